"""Refutations: two neighbouring inputs and an event, confirmed on fresh samples, or computed exactly."""
