"""The red team: what attackers really reach, held against what was promised; the flow `assess`."""
