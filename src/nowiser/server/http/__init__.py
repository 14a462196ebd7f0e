"""HTTP: the API for programs, log-in for people, health for machines."""
