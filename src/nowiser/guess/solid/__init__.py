"""Three and more continuous attributes that depend on each other."""
