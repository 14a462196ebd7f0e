"""From SQL text to the tree: parsing, names, one rule per construct."""
