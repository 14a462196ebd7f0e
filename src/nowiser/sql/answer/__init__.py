"""From noisy cells to the rows that are shown, with their error bars."""
