"""Priors written out as a table: atoms, histogram, empirical values, categories, presence; and `unknown`."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.checks import number
from nowiser.model.priors.base import ArrayPrior, Floats, Prior, ascend, floats, masses
from nowiser.model.priors.file import read_columns

Label = str | int | float | bool


@dataclass(frozen=True, eq=False, init=False)
class Atoms(ArrayPrior):
    """Single values with a probability each: `Atoms({0: .2, 2: .8})` or `Atoms([0, 2], [.2, .8])`."""

    kind: ClassVar[str] = "line"
    _arrays: ClassVar[tuple[str, ...]] = ("values", "masses")
    values: Floats  # ascending, distinct
    masses: Floats  # none of them zero

    def __init__(self, values: Mapping[float, float] | Iterable[float], masses_: Iterable[float] | None = None) -> None:
        if isinstance(values, Mapping):
            if masses_ is not None:
                raise Misconfigured("Atoms takes a mapping from value to mass, or values and masses, not both")
            masses_ = list(values.values())
            values = list(values.keys())
        if masses_ is None:
            raise Misconfigured("Atoms needs a mass for each value; use Empirical for plain values")
        points, weights = floats("values of Atoms", values), masses("masses of Atoms", masses_)
        if points.size != weights.size:
            raise Misconfigured(f"Atoms needs one mass per value, found {points.size} values, {weights.size} masses")
        distinct, where = np.unique(points, return_inverse=True)
        if distinct.size != points.size:
            raise Misconfigured(f"the values of Atoms must be distinct, found {points.size - distinct.size} repeated")
        ordered = np.zeros(distinct.size)
        ordered[where] = weights
        _freeze(self, values=distinct[ordered > 0], masses=ordered[ordered > 0])

    def __repr__(self) -> str:
        return f"Atoms({_shortened(self.values)}, {_shortened(self.masses)})"


@dataclass(frozen=True, eq=False, init=False)
class Histogram(ArrayPrior):
    """Bins with a probability each, and constant density inside a bin."""

    kind: ClassVar[str] = "line"
    _arrays: ClassVar[tuple[str, ...]] = ("edges", "masses")
    edges: Floats
    masses: Floats

    def __init__(self, edges: Iterable[float], masses_: Iterable[float]) -> None:
        ends, weights = floats("edges of Histogram", edges), masses("masses of Histogram", masses_)
        if ends.size != weights.size + 1:
            raise Misconfigured(
                f"Histogram needs one edge more than masses, found {ends.size} edges and {weights.size} masses"
            )
        ascend("the edges of Histogram", ends)
        used = np.flatnonzero(weights > 0)
        first, last = used[0], used[-1] + 1
        _freeze(self, edges=ends[first : last + 1].copy(), masses=weights[first:last].copy())

    def __repr__(self) -> str:
        return f"Histogram({_shortened(self.edges)}, {_shortened(self.masses)})"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Empirical(Atoms):
    """Atoms at the observed values, each as likely as it is frequent."""

    def __init__(self, values: Iterable[float]) -> None:
        points = floats("values of Empirical", values)
        distinct, counts = np.unique(points, return_counts=True)
        super().__init__(distinct, counts / counts.sum())

    @staticmethod
    def read(path: str | Path, column: str) -> "Atoms | Categories":
        """The empirical prior of one column of a csv or parquet file: numbers become Atoms, texts Categories.

        Every row must have a value. The file is a public statement of the custodian (last year's figures, a census).
        """
        return _read_column(path, column)


def _read_column(path: str | Path, column: str) -> "Atoms | Categories":
    values = read_columns(path, [column]).column(column).combine_chunks()
    import pyarrow as pa

    if pa.types.is_boolean(values.type) or not (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type)
    ):
        counted = values.value_counts().to_pylist()
        total = sum(row["counts"] for row in counted)
        shares = {_label(row["values"]): row["counts"] / total for row in counted}
        return Categories(shares)
    return Empirical(np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64))


@dataclass(frozen=True, init=False)
class Categories(Prior):
    """Labels with a probability each: `Categories({"soup": .3, "pasta": .7})`; a plain list means equally likely."""

    kind: ClassVar[str] = "categories"
    labels: tuple[Label, ...]
    masses: tuple[float, ...]

    def __init__(self, shares: Mapping[Label, float] | Iterable[Label]) -> None:
        if isinstance(shares, str) or not isinstance(shares, Iterable):
            raise Misconfigured(f"Categories needs labels with masses, or a list of labels, found {shares!r}")
        if not isinstance(shares, Mapping):
            labels = list(shares)
            if not all(isinstance(label, Hashable) for label in labels):
                raise Misconfigured(
                    f"the labels of Categories must be texts, numbers or true and false, found {labels!r}"
                )
            shares = dict.fromkeys(labels, 1 / len(labels)) if labels else {}
            if len(shares) != len(labels):
                repeated = next(label for label in labels if labels.count(label) > 1)
                raise Misconfigured(f"the labels of Categories must be distinct, found {repeated!r} more than once")
        if not shares:
            raise Misconfigured("Categories needs at least one label, found none")
        weights = masses("masses of Categories", list(shares.values()))
        object.__setattr__(self, "labels", tuple(shares))
        object.__setattr__(self, "masses", tuple(float(w) for w in weights))


@dataclass(frozen=True)
class Presence(Prior):
    """The attacker believes with this probability that the person is in the table."""

    kind: ClassVar[str] = "presence"
    probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", number("probability of Present", self.probability, low=0.0, high=1.0))


@dataclass(frozen=True)
class Unknown(Prior):
    """Nothing is said about what attackers believe: the worst prior counts.

    low, high: the range of a number; needed as soon as a cost has a slope.
    """

    kind: ClassVar[str] = "unknown"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise Misconfigured("Unknown needs both ends of the range or none")
        if self.low is not None and self.high is not None:
            low, high = number("low of Unknown", self.low), number("high of Unknown", self.high)
            if not low < high:
                raise Misconfigured(f"Unknown needs low below high, found {low:g} and {high:g}")
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)


def _freeze(prior: ArrayPrior, **arrays: Floats) -> None:
    for name, array in arrays.items():
        array.flags.writeable = False
        object.__setattr__(prior, name, array)


def _label(value: Any) -> Label:
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _shortened(values: Floats) -> str:
    shown = [f"{v:.6g}" for v in (values if values.size <= 6 else values[:5])]
    return "[" + ", ".join(shown) + (f", … {values.size} in all]" if values.size > 6 else "]")
