"""How far one person can move a cell: whose rows, how many, between which ends."""
