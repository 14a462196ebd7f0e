"""Goals on one number: one victim, the worst victim, and several conditions at once."""
