"""Every claim computed again from the written file. Imports nothing of the search, the methods, the models."""
