"""Entropy whose bytes the test decides."""

import numpy as np


class Scripted:
    """Gives out these bytes, in order."""

    def __init__(self, data):
        self.data, self.used = bytes(data), 0

    def bytes(self, n):
        found = self.data[self.used : self.used + n]
        if len(found) < n:
            raise AssertionError("the script is too short")
        self.used += n
        return found


class Seeded:
    """Reproducible bytes, for statistical tests of code that never releases anything."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def bytes(self, n):
        return self.generator.bytes(n)
