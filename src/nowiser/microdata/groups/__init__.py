"""Groups of look-alikes: what the privacy models judge."""
