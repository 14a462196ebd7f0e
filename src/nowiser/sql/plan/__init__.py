"""From a checked question to cells, groups and noise."""
