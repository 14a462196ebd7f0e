"""What stands around an answer: SELECTs over released rows, windows, grouping sets, what BI tools add."""
