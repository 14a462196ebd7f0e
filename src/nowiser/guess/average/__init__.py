"""What the best attacker reaches on average, beside the ceiling."""
