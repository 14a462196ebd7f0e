"""Long jobs: publishing a table, and holding a release against its original, each in a process of its own."""
