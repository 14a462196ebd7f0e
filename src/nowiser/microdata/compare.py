"""The flow `compare`: risk and utility of a release made by anybody, with any tool, held against the original.

Which released row is whose is taken from a `key` column if one is named; from the order of the rows only where the
caller (`in_order`) or the codebook beside the release says that it is that of the original. Otherwise everything that
needs it is left out, and the result says what would be needed: a wrong match makes a release look far safer than it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.codebook import KEPT, RANDOM, order_of
from nowiser.microdata.hierarchies.spec import Spec, hierarchy
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.prepare import check_weighed
from nowiser.microdata.recipe import near
from nowiser.microdata.risk import individual, suda, uniques
from nowiser.microdata.risk.best_guess import Goal, Guessed
from nowiser.microdata.risk.fellegi_sunter import MOST_COLUMNS, fellegi_sunter
from nowiser.microdata.risk.guessing import FOUND, NO_KNOWLEDGE, guesses
from nowiser.microdata.risk.intersection import Answered, also_answered
from nowiser.microdata.risk.interval import interval_disclosure
from nowiser.microdata.risk.labels import Rules, fit, rules
from nowiser.microdata.risk.linkage import linkage
from nowiser.microdata.risk.linking import is_aligned, shared_codes
from nowiser.microdata.table.arrays import Names, chosen, grouped
from nowiser.microdata.table.micro_table import MicroTable, no_column
from nowiser.microdata.table.read import load
from nowiser.microdata.utility.classifier import classifier
from nowiser.microdata.utility.eigen import eigenvalues
from nowiser.microdata.utility.il1s import il1s
from nowiser.microdata.utility.marginals import marginals, pairs
from nowiser.microdata.utility.moments import moments
from nowiser.microdata.utility.pair import Pair, pair
from nowiser.microdata.utility.propensity import propensity
from nowiser.microdata.utility.quantiles import quantiles
from nowiser.microdata.utility.regression import regression
from nowiser.microdata.utility.ru_map import Point, frontier
from nowiser.percent import percent

LEAST_UNREAD = 0.001  # share of the rows
BY_ORDER = "by the order of the rows"


@dataclass(frozen=True)
class Comparison:
    """What an attacker gains from the release, and what an analyst loses by it."""

    rows: tuple[int, int]
    alignment: str  # how it is known which row is whose, in words
    guesses: tuple[Guessed, ...]
    risk: Mapping[str, Any]
    utility: Mapping[str, Any]
    title: str = "release"
    notes: tuple[str, ...] = field(default=())

    @property
    def gain(self) -> Guessed | None:
        """The attacker who gains most: among those who must still find the row, if quasi-identifiers were named."""
        searching = [g for g in self.guesses if not g.attacker.startswith(FOUND)]
        return max(searching if len(searching) > 1 else self.guesses, key=lambda g: g.gain, default=None)

    @property
    def kept(self) -> float:
        """The share of two-column distributions that is kept."""
        return float(self.utility["kept"])

    @property
    def point(self) -> Point:
        worst = self.gain
        if worst is None:
            return Point(self.title, 0.0, self.kept)
        low, high = (None, None) if worst.low is None or worst.high is None else (worst.low, worst.high)
        before = worst.before
        return Point(
            self.title,
            worst.gain,
            self.kept,
            None if low is None else low - before,
            None if high is None else high - before,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": {"original": self.rows[0], "released": self.rows[1]},
            "alignment": self.alignment,
            "strongest": None if self.gain is None else _told(self.gain),
            "guesses": [_told(g) for g in self.guesses],
            "risk": self.risk,
            "utility": self.utility,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        from nowiser.report.compare import html

        return html(self.to_json(), whole_page=False)

    def save(self, path: str | Path) -> Path:
        """Write the report as one HTML file that loads nothing from elsewhere."""
        from nowiser.report.compare import save_report

        return save_report(self.to_json(), Path(path))


@dataclass(frozen=True)
class RiskUtility:
    """Several candidates on one map; draws itself in a notebook."""

    comparisons: tuple[Comparison, ...]

    @property
    def points(self) -> tuple[Point, ...]:
        return frontier([c.point for c in self.comparisons])

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(p) for p in self.points]

    def chart(self) -> Any:
        from nowiser.report.ru_map import chart

        return chart(self.to_json())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.chart()._repr_mimebundle_(include, exclude)


def compare(
    original: Any,
    released: Any,
    *,
    quasi: Names | Mapping[str, Spec] = (),
    sensitive: Names | Mapping[str, float | None] = (),
    weight: str | None = None,
    household: str | None = None,
    key: str | None = None,
    in_order: bool = False,
    target: str | None = None,
    within: Mapping[str, float] | None = None,
    answered: Mapping[str, Answered] | None = None,
    title: str = "release",
    victims: int = 1000,
) -> Comparison:
    """Hold a release against its original. Both may be pandas, Polars, Arrow, or the path of a file.

    `quasi` is what attackers may know, `sensitive` what they guess (`{"score": 5}`, or `within`: how near a number).
    Which released row is whose: `key` names a column that tells, `in_order` says that the rows are in the order of the
    original. Without either, and without a codebook that says so, attackers who have found the row, record linkage and
    interval disclosure are not measured; others read the labels, and the words of a hierarchy if `quasi` names it, as
    `publish` takes it (`{"country": "country.csv"}`). `target` is what a classifier is asked to predict (the first
    sensitive column if not named), `answered` what the gateway's answers have cost about a sensitive column: then
    attackers who also have those stand beside the others.
    """
    said = order_of(Path(released)) if isinstance(released, str | Path) else None
    if in_order and key is None and said == RANDOM:
        raise Misconfigured(
            "the codebook of the release says that its rows are in random order",
            hint="Leave in_order=True out; publish with keep_order=True, or with a column that tells (key).",
        )
    old, new, alignment = aligned(load(original), load(released), key, in_order=in_order or said == KEPT)
    if in_order and key is None and old.rows != new.rows:
        raise Misconfigured(
            f"the original has {old.rows:,} rows and the release {new.rows:,}: their order cannot be the same",
            hint="Leave in_order=True out, or name a column that tells which row is whose (key).",
        )
    if not old.rows or not new.rows:
        raise Misconfigured(
            f"a table without rows cannot be compared: the {'release' if old.rows else 'original'} has none"
        )
    if isinstance(sensitive, Mapping):
        within = {**near(sensitive, "sensitive")[1], **(within or {})}
        sensitive = tuple(sensitive)
    specs = {q: s for q, s in quasi.items() if s} if isinstance(quasi, Mapping) else {}
    quasis = chosen(old, tuple(quasi) if isinstance(quasi, Mapping) else quasi, what="quasi") if quasi else ()
    secrets = chosen(old, sensitive, what="sensitive") if sensitive else ()
    missing = [c for c in (*quasis, *secrets) if c not in new]
    if missing:
        raise Misconfigured(
            f"the release has no column {', '.join(map(repr, missing))}",
            hint=f"It has {', '.join(map(repr, new.names))}.",
        )
    roles = Roles(quasis, secrets, weight=weight, household=household)
    check_weighed(old, roles)
    if target is not None and target not in old:
        raise no_column(target, old.names, "target")
    for name in within or {}:
        if name not in secrets or not old[name].is_numeric:
            raise Misconfigured(f"within: {name!r} is not a numeric sensitive column")
    goals = {name: Goal(name, float(r)) for name, r in (within or {}).items()}
    told: list[Guessed] = []
    labels = {q: rules(hierarchy(old[q], specs.get(q), None)) for q in quasis if q in specs or _words(old, new, q)}
    for name in secrets:
        here = guesses(old, new, quasis, name, goal=goals.get(name), victims=victims, labels=labels)
        told += here
        if answered is not None and name in answered:
            told += also_answered([g for g in here if g.attacker != NO_KNOWLEDGE], answered[name])
    skip = {c for c in (key, household, weight) if c is not None}
    both = pair(old, new, [c for c in old.names if c in new and c not in skip], weight)
    return Comparison(
        (old.rows, new.rows),
        alignment,
        tuple(told),
        risks(old, new, roles),
        utilities(both, quasis, target or (secrets[0] if secrets else None)),
        title,
        (*_notes(old, new, both, checked=alignment == BY_ORDER), *_unread(old, new, quasis, labels)),
    )


def ru_map(original: Any, releases: Mapping[str, Any], **options: Any) -> RiskUtility:
    """Compare several releases of one table and place them on a map of risk against utility."""
    if not releases:
        raise Misconfigured("a map needs at least one release")
    base = load(original)
    return RiskUtility(tuple(compare(base, r, title=name, **options) for name, r in releases.items()))


def aligned(
    old: MicroTable, new: MicroTable, key: str | None, *, in_order: bool = False
) -> tuple[MicroTable, MicroTable, str]:
    """The tables with `origin` of the release pointing into the original (−1 if nobody knows)."""
    base = replace(old, origin=np.arange(old.rows, dtype=np.int64))
    if key is None:
        if in_order and old.rows == new.rows:
            return base, replace(new, origin=np.arange(new.rows, dtype=np.int64)), BY_ORDER
        why = "the tables differ in length" if old.rows != new.rows else "nothing says in which order the rows are"
        return base, replace(new, origin=np.full(new.rows, -1, dtype=np.int64)), f"unknown: {why}"
    chosen(old, [key], what="key")
    chosen(new, [key], what="key")
    true, seen = shared_codes(old[key], new[key])
    counts = np.bincount(true[true >= 0], minlength=1)
    if (counts > 1).any() or (true < 0).any():
        raise Misconfigured(f"key {key!r} does not tell the rows of the original apart")
    size = len(counts)
    where = np.full(max(size, int(seen.max(initial=0)) + 1), -1, dtype=np.int64)
    where[true] = np.arange(old.rows)
    origin = np.where(seen >= 0, where[seen], -1)
    if (origin < 0).any():
        raise Misconfigured(
            f"key {key!r}: {int((origin < 0).sum())} released rows have a value that the original does not have"
        )
    if len(np.unique(origin)) < len(origin):
        raise Misconfigured(f"key {key!r} occurs twice in the release")
    return base, replace(new, origin=origin), f"by {key!r}"


def same_order(old: MicroTable, new: MicroTable) -> bool:
    """Whether row i of the release looks like row i of the original at all.

    In order means: some column agrees with its original beyond chance, by five standard deviations.
    Tables too small for such a verdict, and columns without a common value, count as in order.
    """
    if old.rows < 100:
        return True
    verdicts = []
    for name in (n for n in old.names if n in new):
        a, b = old[name], new[name]
        if a.is_numeric and b.is_numeric and len(a.values) > 20:
            x, y = np.nan_to_num(a.numbers), np.nan_to_num(b.numbers)
            ranks = np.corrcoef(x.argsort().argsort(), y.argsort().argsort())
            verdicts.append(abs(float(ranks[0, 1])) * np.sqrt(len(x)) > 5)
            continue
        true, seen = shared_codes(a, b)
        size = int(max(true.max(), seen.max())) + 2
        by_chance = (
            float(np.bincount(true + 1, minlength=size) @ np.bincount(seen + 1, minlength=size)) / len(true) ** 2
        )
        if 0 < by_chance < 0.999:
            beyond = float((true == seen).mean()) - by_chance
            verdicts.append(beyond > 5 * np.sqrt(by_chance * (1 - by_chance) / len(true)))
    return any(verdicts) or not verdicts


def risks(old: MicroTable, new: MicroTable, roles: Roles) -> dict[str, Any]:
    """Every risk figure that applies, of the original and of the release."""
    out: dict[str, Any] = {}
    if roles.quasi:
        for title, measure in ((individual.TITLE, individual.MEASURE), (uniques.TITLE, uniques.MEASURE)):
            here = replace(roles, weight=roles.weight if roles.weight in new else None)
            out[title] = {"original": dict(measure(old, roles)), "released": dict(measure(new, here))}
        if len(roles.quasi) <= 12:
            out[suda.TITLE] = {
                "original": dict(suda.MEASURE(old, roles)),
                "released": dict(suda.MEASURE(new, roles)),
            }
    if not is_aligned(new):
        return out
    linkable = [c for c in roles.quasi if _linkable(old, new, c)]
    if linkable:
        found = linkage(old, new, linkable, k=min(3, new.rows), most=20_000)
        out["nearest released row"] = asdict(found) | {"columns": linkable}
    if roles.quasi and len(roles.quasi) <= MOST_COLUMNS:
        match = fellegi_sunter(old, new, roles.quasi)
        out["probabilistic linkage"] = {
            "linked": match.linked,
            "low": match.low,
            "high": match.high,
            "agreement of matches": dict(zip(match.columns, match.m.tolist(), strict=True)),
            "agreement of others": dict(zip(match.columns, match.u.tolist(), strict=True)),
        }
    numeric = [
        c
        for c in dict.fromkeys((*roles.sensitive, *roles.quasi))
        if old[c].is_numeric and new[c].is_numeric and not old[c].nulls and not new[c].nulls and len(new[c].values) > 20
    ]
    if numeric and new.rows > 1:
        out["interval disclosure"] = {c: asdict(interval_disclosure(old, new, [c])) for c in numeric}
    return out


def utilities(both: Pair, quasi: Sequence[str], target: str | None) -> dict[str, Any]:
    """Every utility figure that applies."""
    singles, doubles = marginals(both), pairs(both)
    moved = moments(both)
    out: dict[str, Any] = {
        "kept": 1 - float(np.mean(list(doubles.values()) or list(singles.values()))),
        "marginals": singles,
        "pairs": {f"{a} × {b}": v for (a, b), v in doubles.items()},
        "means": moved.mean,
        "variances": moved.variance,
        "correlations": {f"{a} × {b}": v for (a, b), v in moved.correlation.items()},
        "eigenvalues": eigenvalues(both),
        "quantiles": quantiles(both),
    }
    if is_aligned(both.released):
        out["il1s"] = il1s(both)
    fitted = regression(both)
    if fitted is not None:
        out["regression"] = asdict(fitted)
    out["propensity"] = asdict(propensity(both))
    if target is not None and target in both.columns:
        skill = classifier(both, target)
        if skill is not None:
            out["classifier"] = asdict(skill) | {"kept": skill.kept}
    if quasi:
        sizes = np.bincount(grouped(both.released, list(quasi))[0])
        out["groups"] = {
            "count": len(sizes),
            "average size": float(sizes.mean()),
            "discernibility": float((sizes.astype(np.float64) ** 2).sum()),
        }
    return out


def _told(guess: Guessed) -> dict[str, Any]:
    return asdict(guess) | {"gain": guess.gain, "goal": guess.goal}


def _linkable(old: MicroTable, new: MicroTable, name: str) -> bool:
    """Columns on which rows have a distance: numbers in both, or few categories that both use."""
    a, b = old[name], new[name]
    if a.is_numeric and b.is_numeric:
        return True
    return len(a.values) <= 100 and len(b.values) <= 100 and bool(set(a.labels) & set(b.labels))


def _words(old: MicroTable, new: MicroTable, q: str) -> bool:
    """Whether labels cannot be read by themselves; they may be those of the hierarchy that `publish` makes."""
    return not is_aligned(new) and fit(old[q], new[q]).unread > LEAST_UNREAD


def _unread(old: MicroTable, new: MicroTable, quasis: Sequence[str], labels: Mapping[str, Rules]) -> tuple[str, ...]:
    """Labels nobody can read: attackers who know better do better."""
    if is_aligned(new):
        return ()
    shares = {q: fit(old[q], new[q], labels.get(q)).unread for q in quasis}
    return tuple(
        f"{q}: the labels of {percent(s)} of the rows cannot be read, so attackers are weaker than real ones; name its"
        f" hierarchy, as in --quasi {q}:file.csv"
        for q, s in shares.items()
        if s > LEAST_UNREAD
    )


def _notes(old: MicroTable, new: MicroTable, both: Pair, *, checked: bool) -> tuple[str, ...]:
    notes = []
    if checked and not same_order(old, new):
        notes.append("no column agrees with the original row by row: are the rows really in its order?")
    dropped = [c for c in old.names if c not in new]
    if dropped:
        notes.append(f"not in the release: {', '.join(dropped)}")
    added = [c for c in new.names if c not in old]
    if added:
        notes.append(f"only in the release: {', '.join(added)}")
    flat = [c for c in both.columns if len(old[c].values) < 2]
    if flat:
        notes.append(f"constant in the original: {', '.join(flat)}")
    return tuple(notes)
