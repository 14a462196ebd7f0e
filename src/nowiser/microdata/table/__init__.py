"""The table: its columns and their types, reading and writing files, rows that are not loaded."""
