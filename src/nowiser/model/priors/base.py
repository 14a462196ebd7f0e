"""The root of all priors, and read-only arrays that are values."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nowiser.errors import Misconfigured

Floats = npt.NDArray[np.float64]

# Masses are accepted when they sum to one up to this; every figure is a ratio of masses, so nothing is lost.
MASS_TOLERANCE = 1e-9


class Prior:
    """A public statement about what attackers believe. Priors are frozen values: equal, hashable, printable.

    kind: `line` (numbers), `categories`, `presence`, `unknown` or `joint`.
    """

    kind: ClassVar[str]


class ArrayPrior(Prior):
    """Equality and hash by content for priors that hold arrays. Subclasses are frozen dataclasses with eq=False."""

    _arrays: ClassVar[tuple[str, ...]]
    _rest: ClassVar[tuple[str, ...]] = ()

    def _family(self) -> type:
        """The class that declares the arrays: an Empirical equals the Atoms it stands for."""
        return next(c for c in type(self).__mro__ if "_arrays" in c.__dict__)

    def _digest(self) -> bytes:
        found: bytes | None = self.__dict__.get("_digested")
        if found is None:
            import hashlib  # loads OpenSSL, for which most commands need not wait

            sha = hashlib.sha256(self._family().__name__.encode())
            for name in self._arrays:
                array: Floats = getattr(self, name)
                sha.update(repr((name, array.shape)).encode())
                sha.update(np.ascontiguousarray(array).tobytes())
            sha.update(repr([getattr(self, name) for name in self._rest]).encode())
            found = sha.digest()
            object.__setattr__(self, "_digested", found)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayPrior) or other._family() is not self._family():
            return NotImplemented if not isinstance(other, Prior) else False
        return self._digest() == other._digest()

    def __hash__(self) -> int:
        return int.from_bytes(self._digest()[:8], "little")


def floats(name: str, values: Any, *, dimensions: int = 1) -> Floats:
    """A read-only copy as finite float64, or Misconfigured naming the argument."""
    found = list(values) if isinstance(values, Iterable) and not hasattr(values, "__array__") else values
    try:
        array = np.array(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise Misconfigured(f"{name} must be numbers, found {str(found)[:80]}") from None
    if array.ndim != dimensions or not array.size:
        raise Misconfigured(f"{name} must be a non-empty {dimensions}-dimensional array, found shape {array.shape}")
    if not np.isfinite(array).all():
        raise Misconfigured(f"{name} must be finite numbers, found {array[~np.isfinite(array)][0]}")
    array = array + 0.0  # −0.0 and 0.0 are one value
    array.flags.writeable = False
    return array


def masses(name: str, values: Any, *, dimensions: int = 1) -> Floats:
    """Read-only probabilities: not negative, summing to one within MASS_TOLERANCE."""
    array = floats(name, values, dimensions=dimensions)
    if (array < 0).any():
        raise Misconfigured(f"{name} must not be negative, found {array.min():g}")
    total = float(array.sum())
    if abs(total - 1) > MASS_TOLERANCE:
        raise Misconfigured(f"{name} must sum to 1 (within {MASS_TOLERANCE:g}), found a sum of {total:.12g}")
    return array


def ascend(name: str, edges: Floats) -> None:
    """Misconfigured unless each is above the one before; says which is not."""
    falls = np.flatnonzero(~(np.diff(edges) > 0))
    if falls.size:
        before, after = edges[falls[0] : falls[0] + 2]
        raise Misconfigured(f"{name} must ascend strictly, found {after:g} after {before:g}")
