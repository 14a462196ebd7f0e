"""How a graph may be released: one method per file."""
