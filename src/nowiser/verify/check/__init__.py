"""The checker of certificates: exact arithmetic, no solver, and nothing of the search (a contract keeps it so)."""
