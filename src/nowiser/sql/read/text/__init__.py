"""Before there is a tree: tokens, parameters, other dialects' spellings, limits, and sqlglot's parser."""
