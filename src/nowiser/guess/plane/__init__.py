"""Two continuous attributes: regions and discs on a plane, one victim or the worst."""
