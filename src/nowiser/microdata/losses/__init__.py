"""Losses, one per file (`LOSS`): how much of the table's information a release gives up. Lower is better."""
