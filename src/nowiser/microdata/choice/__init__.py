"""What it tells that one version of a table was chosen and no other."""
