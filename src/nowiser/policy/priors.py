"""What attackers are taken to believe about each sensitive column, and about who is in a table.

    prior: unknown                                    the default: the worst belief there is counts
    prior: uniform                                    over the declared range or values
    prior: {uniform: [12, 28]}
    prior: {normal: {mean: 20, sd: 5}}
    prior: {lognormal: {mean: 3, sd: 0.5}}            mean and sd of the logarithm
    prior: {histogram: {edges: [0, 18, 65, 120], weights: [2, 6, 2]}}
    prior: {categories: {soup: 30, curry: 70}}        in proportion
    prior: {empirical: last_year.csv}                 a public file; {file: …, column: …} if named otherwise

The declared range is public, so every attacker knows it: priors are cut to it. Whole numbers and days are believed
in as whole numbers: on a range of up to 1,000 of them a formula becomes the mass of each (from k − ½ to k + ½).
Otherwise "exactly" would have no chance before and none after, and promise nothing.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

from nowiser.errors import Misconfigured
from nowiser.model.prior import (
    Atoms,
    Categories,
    Empirical,
    Histogram,
    LogNormal,
    Normal,
    Presence,
    Prior,
    Truncated,
    Uniform,
    Unknown,
)
from nowiser.model.schema import Column, Kind, Protect, Role, Value
from nowiser.policy import shape, values
from nowiser.policy.tables import Read
from nowiser.policy.tree import Entries, Leaf, Node, Place, suggestion

_ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
_WHOLE = (Kind.INTEGER, Kind.DATE)
_MOST_ATOMS = 1_000
_LEAST_MASS = 1e-9  # a prior that holds the declared range for less likely contradicts it


def read_priors(tables: tuple[Read, ...], folder: Path) -> dict[str, Prior]:
    """`table.column` → its prior for every sensitive column; `table` → belief in presence where that is secret."""
    found: dict[str, Prior] = {}
    for read in tables:
        table, declared = read.table, read.columns
        presence = read.entries.get("presence")
        if presence is not None and table.protect is Protect.VALUES:
            presence.place.wrong(f"who is in table {table.name!r} is public (`protect: values`): no belief is needed")
        if not table.is_public and table.protect is Protect.PERSONS:
            found[table.name] = _presence(presence, table.name)
        for column in table.columns:
            if column.role is Role.SENSITIVE:
                node = declared.entries[column.name]
                said = node.get("prior") if isinstance(node, Entries) else None
                found[f"{table.name}.{column.name}"] = _Reader(column, table.name, folder).read(said)
    return found


def uniform(column: Column) -> Prior | None:
    """What `prior: uniform` means for a column; None where neither a range nor values are declared."""
    return _Reader(column, "", Path()).even()


def _presence(node: Node | None, table: str) -> Prior:
    if node is None:
        return Unknown()
    share = values.share(node, f"presence in table {table!r}")
    if share == 1:
        node.place.wrong(
            f"if everybody is certainly in table {table!r}, presence is public", "Write `protect: values`."
        )
    return Presence(float(share))


class _Reader:
    """Reads the prior of one column; everything it needs to know about the column stands here."""

    def __init__(self, column: Column, table: str, folder: Path) -> None:
        self.column = column
        self.what = f"the prior of {table}.{column.name}"
        self.folder = folder
        self.low = float(column.low) if column.low is not None else None
        self.high = float(column.high) if column.high is not None else None

    def read(self, node: Node | None) -> Prior:
        if node is None or (isinstance(node, Leaf) and node.raw == "unknown"):
            return self.unknown()
        if isinstance(node, Leaf):
            forms = ["uniform", "unknown", *(f"{{{key}: …}}" for key in shape.keys_of(shape.Prior))]
            if node.raw != "uniform":
                node.place.wrong(f"{self.what} cannot be {node.raw!r}", suggestion(node.raw, forms, "Allowed"))
            return self.uniform(node.place)
        entries = values.mapping(node, self.what)
        entries.only(shape.keys_of(shape.Prior), self.what)
        if len(entries.entries) != 1:
            entries.place.wrong(f"{self.what} must be exactly one form", "For example `{normal: {mean: 20, sd: 5}}`.")
        (form, inner), *_ = entries.entries.items()
        if form in ("uniform", "normal", "lognormal", "histogram") and self.column.kind not in _ORDERED:
            entries.keys[form].wrong(
                f"{self.what} cannot be {form}: the column is of kind {self.column.kind.value}",
                "Allowed: uniform, unknown, {categories: …}, {empirical: file}.",
            )
        try:
            return self.forms()[form](inner)
        except Misconfigured as error:
            if error.span is None:  # raised by the prior itself, which knows no file
                inner.place.wrong(f"{self.what}: {error.message}", error.hint)
            raise

    def forms(self) -> dict[str, Callable[[Node], Prior]]:
        return {
            "uniform": self.uniform_between,
            "normal": self.normal,
            "lognormal": self.lognormal,
            "histogram": self.histogram,
            "categories": self.categories,
            "empirical": self.empirical,
        }

    def unknown(self) -> Prior:
        if self.low is None or self.high is None or self.low == self.high:
            return Unknown()
        return Unknown(self.low, self.high)

    def uniform(self, place: Place) -> Prior:
        found = self.even()
        if found is None:
            place.wrong(f"{self.what} cannot be uniform: the column has no declared range or values")
        return found

    def even(self) -> Prior | None:
        if self.column.domain is not None:
            return self.weighed({value: Fraction(1) for value in self.column.domain})
        if self.low is None or self.high is None:
            return None
        return self.whole(lambda x: x) or Uniform(self.low, self.high)

    def uniform_between(self, node: Node) -> Prior:
        ends = values.sequence(node, self.what)
        if len(ends.items) != 2:
            ends.place.wrong(f"{self.what}: uniform needs two ends, like [12, 28]")
        low, high = (float(values.raw_units(end, self.column.kind, self.what)) for end in ends)
        more = 0.5 if self.column.kind in _WHOLE else 0.0  # so that both ends have the weight of the others

        def below(x: float) -> float:
            return min(1.0, max(0.0, (x - low + more) / (high - low + 2 * more)))

        return self.cut(Uniform(low, high), node, below, low, high)

    def normal(self, node: Node) -> Prior:
        mean, sd = self.mean_and_sd(node, "normal", in_units=True)
        return self.cut(Normal(mean, sd), node, lambda x: _phi((x - mean) / sd))

    def lognormal(self, node: Node) -> Prior:
        mean, sd = self.mean_and_sd(node, "lognormal", in_units=False)
        return self.cut(LogNormal(mean, sd), node, lambda x: _phi((math.log(x) - mean) / sd) if x > 0 else 0.0, low=0.0)

    def mean_and_sd(self, node: Node, form: str, *, in_units: bool) -> tuple[float, float]:
        entries = values.mapping(node, f"{form} of {self.what}")
        entries.only(shape.keys_of(shape.Normal), f"{form} of {self.what}")
        mean, sd = (entries.need(key, f"{form} of {self.what}", "{mean: 20, sd: 5}") for key in ("mean", "sd"))
        kind = Kind.REAL if not in_units or self.column.kind is Kind.INTEGER else self.column.kind
        return float(values.raw_units(mean, kind, "mean")), float(values.positive(sd, "sd"))

    def histogram(self, node: Node) -> Prior:
        entries = values.mapping(node, f"histogram of {self.what}")
        entries.only(shape.keys_of(shape.Histogram), f"histogram of {self.what}")
        found = [
            values.sequence(entries.need(key, f"histogram of {self.what}", f"{key}: […]"), key)
            for key in ("edges", "weights")
        ]
        kind = Kind.REAL if self.column.kind is Kind.INTEGER else self.column.kind
        edges = [values.raw_units(edge, kind, "an edge") for edge in found[0]]
        weights = [self.weight(weight) for weight in found[1]]
        total = self.total(weights, found[1].place)
        prior = Histogram(map(float, edges), [float(w / total) for w in weights])

        def below(x: float) -> float:
            bins = zip(prior.edges, prior.edges[1:], prior.masses, strict=False)
            return math.fsum(float(m) * min(1.0, max(0.0, (x - float(a)) / float(b - a))) for a, b, m in bins)

        return self.cut(prior, node, below, float(prior.edges[0]), float(prior.edges[-1]))

    def categories(self, node: Node) -> Prior:
        entries = values.mapping(node, self.what)
        shares: dict[Value, Fraction] = {}
        for key, child in entries.entries.items():
            place = entries.keys[key]
            text = place.text[place.start : place.end]
            label = values.member(Leaf(place, key, plain=text == key), self.column.kind, f"a value in {self.what}") \
                if self.column.kind is not Kind.TEXT else key  # fmt: skip
            if self.column.domain is not None and label not in self.column.domain:
                known = [str(value) for value in self.column.domain]
                place.wrong(f"{key!r} is not among the declared values", suggestion(key, known, "Values"))
            shares[label] = self.weight(child)
        missing = [str(value) for value in self.column.domain or () if value not in shares]
        if missing:
            entries.place.wrong(f"{self.what} says nothing about {', '.join(missing)}", "Write 0 for the impossible.")
        self.total(list(shares.values()), entries.place)
        return self.weighed(shares)

    def empirical(self, node: Node) -> Prior:
        column: Node | None = None
        if isinstance(node, Entries):
            node.only(shape.keys_of(shape.Empirical), f"empirical of {self.what}")
            column, node = node.get("column"), node.need("file", f"empirical of {self.what}", "file: last_year.csv")
        path = self.folder / values.text(node, "the file of an empirical prior")
        found = Empirical.read(path, values.text(column, "column") if column is not None else self.column.name)
        if isinstance(found, Categories):
            return self.weighed_as_read(found, node)
        if self.column.kind not in (Kind.INTEGER, Kind.REAL):
            node.place.wrong(f"{self.what}: the file holds numbers, the column is of kind {self.column.kind.value}")
        kept = {
            float(value): float(mass)
            for value, mass in zip(found.values, found.masses, strict=True)
            if self.low is None or self.high is None or self.low <= value <= self.high
        }
        if not kept:
            node.place.wrong(f"{self.what}: no value of the file lies in the declared range")
        return _atoms(kept)

    def weighed_as_read(self, found: Categories, node: Node) -> Prior:
        kind, domain = self.column.kind, self.column.domain
        of_kind = bool if kind is Kind.BOOLEAN else str if kind is Kind.TEXT else None
        if of_kind is None or not all(isinstance(label, of_kind) for label in found.labels):
            node.place.wrong(f"{self.what}: the values of the file are not of kind {kind.value}")
        kept = dict.fromkeys(domain or (), Fraction(0))
        kept |= {
            a: Fraction(m) for a, m in zip(found.labels, found.masses, strict=True) if domain is None or a in domain
        }
        self.total(list(kept.values()), node.place)
        return self.weighed(kept)

    def weight(self, node: Node) -> Fraction:
        """A mass in any unit; percentages too."""
        if isinstance(node, Leaf) and node.raw.endswith("%"):
            node = Leaf(node.place, node.raw[:-1], plain=True)
        value = values.number(node, f"a weight in {self.what}")
        if value < 0:
            node.place.wrong(f"a weight in {self.what} cannot be negative")
        return value

    def total(self, weights: Iterable[Fraction], place: Place) -> Fraction:
        total = sum(weights, Fraction(0))
        if total <= 0:
            place.wrong(f"all weights in {self.what} are 0")
        return total

    def weighed(self, shares: dict[Value, Fraction]) -> Prior:
        """Single values in proportion: numbers become atoms, texts and booleans categories."""
        total = sum(shares.values(), Fraction(0))
        if self.column.kind in _ORDERED:
            return _atoms({float(value): float(w / total) for value, w in shares.items() if not isinstance(value, str)})
        return Categories({value: float(weight / total) for value, weight in shares.items()})

    def whole(self, below: Callable[[float], float]) -> Prior | None:
        """The prior on whole numbers or days, if the column holds those and they are not too many."""
        if self.column.kind not in _WHOLE or self.low is None or self.high is None:
            return None
        points = range(math.ceil(self.low), math.floor(self.high) + 1)
        if self.column.domain is not None or len(points) > _MOST_ATOMS:
            return None
        return _atoms({float(k): below(k + 0.5) - below(k - 0.5) for k in points})

    def cut(
        self,
        prior: Prior,
        node: Node,
        below: Callable[[float], float],
        low: float = -math.inf,
        high: float = math.inf,
    ) -> Prior:
        """The prior on the declared range, given its distribution function and where it ends by itself."""
        if self.column.domain is not None:
            node.place.wrong(f"{self.what}: the column has declared values", "Use uniform or {categories: …}.")
        if self.low is None or self.high is None:
            return prior
        edge = 0.5 if self.column.kind in _WHOLE else 0.0
        if below(self.high + edge) - below(self.low - edge) < _LEAST_MASS:
            node.place.wrong(f"{self.what} has next to no mass in the declared range")
        inside = self.low <= low and high <= self.high
        return self.whole(below) or (prior if inside else Truncated(prior, self.low, self.high))


def _atoms(masses: dict[float, float]) -> Atoms:
    """Masses in proportion; those that underflow to nothing are left out."""
    total = math.fsum(masses.values())
    return Atoms({value: mass / total for value, mass in masses.items() if mass > 0})


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
