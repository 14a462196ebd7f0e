"""Where randomness comes from: the operating system, and nothing in between.

Nothing is buffered: one vectorised draw asks the kernel for one large block. So there is no state that a forked
child could share with its parent, no seed to leak, and nothing to reset.
"""

import os
from typing import Protocol


class Entropy(Protocol):
    """A source of independent uniform bytes. Entropy enters every sampler by argument."""

    def bytes(self, n: int, /) -> bytes:
        """Return `n` fresh uniform bytes."""


class OsEntropy:
    """The operating system's cryptographic generator (`getrandom` on Linux)."""

    def bytes(self, n: int, /) -> bytes:
        return os.urandom(n)


OS = OsEntropy()
