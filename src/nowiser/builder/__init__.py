"""Questions built in Python. A builder prints SQL, which is read, planned, priced and kept like any other question."""
