"""Priors on several attributes that depend on each other: a table of records, a normal, a grid."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.priors.base import ArrayPrior, Floats, Prior, ascend, floats, masses

Entry = str | int | float | bool


def _names(found: Iterable[str]) -> tuple[str, ...]:
    names = tuple([found] if isinstance(found, str) else found)
    if not names or len(set(names)) != len(names) or not all(names):
        raise Misconfigured(f"a joint prior needs the distinct names of its attributes, found {names!r}")
    return names


@dataclass(frozen=True, init=False)
class JointAtoms(Prior):
    """Whole records with a probability each: `JointAtoms(["time", "dish"], {(20, "soup"): .4, (30, "pasta"): .6})`."""

    kind: ClassVar[str] = "joint"
    names: tuple[str, ...]
    records: tuple[tuple[Entry, ...], ...]
    masses: tuple[float, ...]

    def __init__(self, names: Sequence[str], shares: Mapping[tuple[Entry, ...], float]) -> None:
        found = _names(names)
        if not shares or not hasattr(shares, "values"):
            raise Misconfigured("JointAtoms needs a mapping from records to masses, found none")
        weights = masses("masses of JointAtoms", list(shares.values()))
        records = tuple(tuple(r) for r in shares)
        for record in records:
            if len(record) != len(found):
                raise Misconfigured(f"each record of JointAtoms needs {len(found)} entries, found {len(record)}")
        for i, name in enumerate(found):
            numeric = [isinstance(r[i], (int, float)) and not isinstance(r[i], bool) for r in records]
            if any(numeric) and not all(numeric):
                raise Misconfigured(f"attribute {name} of JointAtoms mixes numbers and labels")
        object.__setattr__(self, "names", found)
        object.__setattr__(self, "records", tuple(r for r, w in zip(records, weights, strict=True) if w > 0))
        object.__setattr__(self, "masses", tuple(float(w) for w in weights if w > 0))


@dataclass(frozen=True, eq=False, init=False)
class MultivariateNormal(ArrayPrior):
    """Numbers that depend on each other: `MultivariateNormal(["x", "y"], [0, 0], [[1, 0.5], [0.5, 1]])`."""

    kind: ClassVar[str] = "joint"
    _arrays: ClassVar[tuple[str, ...]] = ("mean", "covariance")
    _rest: ClassVar[tuple[str, ...]] = ("names",)
    names: tuple[str, ...]
    mean: Floats
    covariance: Floats

    def __init__(self, names: Sequence[str], mean: Any, covariance: Any) -> None:
        found = _names(names)
        centre = floats("mean of MultivariateNormal", mean)
        spread = floats("covariance of MultivariateNormal", covariance, dimensions=2)
        n = len(found)
        if centre.shape != (n,) or spread.shape != (n, n):
            raise Misconfigured(
                f"MultivariateNormal of {n} attributes needs a mean of {n} and a covariance of {n}×{n} numbers, "
                f"found {centre.shape} and {spread.shape}"
            )
        if not np.allclose(spread, spread.T, rtol=1e-12, atol=0) or np.linalg.eigvalsh(spread).min() <= 0:
            raise Misconfigured("the covariance of MultivariateNormal must be symmetric and positive definite")
        object.__setattr__(self, "names", found)
        object.__setattr__(self, "mean", centre)
        object.__setattr__(self, "covariance", spread)


@dataclass(frozen=True, eq=False, init=False)
class JointHistogram(ArrayPrior):
    """A grid of boxes with a probability each: edges per attribute, and masses with one axis per attribute."""

    kind: ClassVar[str] = "joint"
    _rest: ClassVar[tuple[str, ...]] = ("names", "_edge_bytes")
    _arrays: ClassVar[tuple[str, ...]] = ("masses",)
    names: tuple[str, ...]
    edges: tuple[Floats, ...]
    masses: Floats

    def __init__(self, names: Sequence[str], edges: Sequence[Any], masses_: Any) -> None:
        found = _names(names)
        ends = tuple(floats(f"edges of {n}", e) for n, e in zip(found, edges, strict=False))
        if len(ends) != len(found) or len(edges) != len(found):
            raise Misconfigured(
                f"JointHistogram of {len(found)} attributes needs as many lists of edges, found {len(edges)}"
            )
        for name, ascending in zip(found, ends, strict=True):
            if ascending.size < 2:
                raise Misconfigured(f"the edges of {name} must be at least two, found {ascending.size}")
            ascend(f"the edges of {name}", ascending)
        weights = masses("masses of JointHistogram", masses_, dimensions=len(found))
        if weights.shape != tuple(e.size - 1 for e in ends):
            raise Misconfigured(
                f"the masses of JointHistogram must have shape {tuple(e.size - 1 for e in ends)}, found {weights.shape}"
            )
        object.__setattr__(self, "names", found)
        object.__setattr__(self, "edges", ends)
        object.__setattr__(self, "masses", weights)

    @property
    def _edge_bytes(self) -> bytes:
        return b"".join(e.tobytes() for e in self.edges)
