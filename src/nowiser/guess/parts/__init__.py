"""Goals with several parts on attributes that are independent of each other."""
