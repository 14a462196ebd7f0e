"""One attribute that is a number: its prior as pieces, tilted integrals, and the search for the worst victim."""
