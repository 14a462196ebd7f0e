"""Programs on symbols: linear forms of data, publics and noise, and the paths of a run."""
