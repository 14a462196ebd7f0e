"""Who may log in, as what, and how that is checked."""
