"""What must be true of every question that is planned, whatever its arithmetic.

Only what an engine returns is looked at, row by row, against what the plan says: the ends of an expression and of a
summand, how far a secret moves it (slope, rounding, jump, presence), and whether it is called exact. All comparisons
are of whole numbers and fractions. Which columns are secret is read off the text of the question, not off the plan.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.engines.aligned import aligned
from nowiser.engines.base import Broken
from nowiser.engines.lacking import refuse_lacking
from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Role
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.bound.relations import rows as known_rows
from nowiser.sql.plan.plan import Plan, plan
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.names import column_type
from nowiser.sql.read.select import read
from nowiser.sql.tree import Call, Column, Filter, Join, PerPerson, Scan, Union, parts
from support.arithmetic_grammar import Grammar, Node
from support.arithmetic_world import NAMES, SECRET, Rows

WORD = re.compile(r"\b(" + "|".join(NAMES) + r")\b")


@dataclass(frozen=True)
class Finding:
    """Something that is not as promised. `what` names the promise, `why` the numbers (of a made-up table)."""

    what: str
    sql: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.sql}\n    {self.why}"


@dataclass(frozen=True)
class Planned:
    node: Node
    plan: Plan
    person: tuple[Column, ...]
    most: int  # rows of one person

    @property
    def sql(self) -> str:
        return self.node.sql

    @property
    def plain(self) -> bool:
        """All rows of a table: many such questions can be run at once."""
        return isinstance(self.plan.tally.relation, Scan) and not self.plan.tally.keys and self.plan.tally.clip is None


class Bench:
    """One engine with the two tables of `arithmetic_world`, and the questions it is tried with."""

    def __init__(self, policy: Policy, engine: Any, rows: Rows, *, batch: int = 40, shrinks: int = 400) -> None:
        self.policy, self.engine, self.batch, self.lines = policy, engine, batch, rows.lines
        self.many, self.shrinks = len(rows.values), shrinks  # `shrinks`: tries to make a question smaller
        self.scans = {t: read(f"SELECT SUM(i1) FROM {t}", policy).relation for t in ("v", "p")}
        self.x = {t: self._prepared(t) for t in ("v", "p")}
        self.used: set[str] = set()  # functions that were tried on rows

    def _prepared(self, table: str) -> dict[str, list[Any]]:
        """What the secret numbers are after preparation: clipped, read, missing ones filled."""
        scan = self.scans[table]
        names = [c for c in SECRET if NAMES[c].kind in "RI"]
        wanted = [self._column(scan, name) for name in names]
        found = self._by_person(scan, (self._column(scan, "k"),), wanted)
        return dict(zip(names, found, strict=True))

    def _column(self, scan: Any, name: str) -> Column:
        declared = next(c for c in scan.table.columns if c.name == name)
        return Column(scan.relation, scan.table.name, declared, column_type(declared))

    # -- planning ----------------------------------------------------------------------------------------

    def planned(self, node: Node) -> Planned | Finding | None:
        """The plan of a question; None where it is refused, a finding where reading or planning breaks."""
        try:
            found = plan(read(node.sql, self.policy), self.policy)
            for tally in found.tallies:
                refuse_lacking(tally, self.engine)
        except NotAnswerable:
            return None
        except Exception as error:  # noqa: BLE001 (whatever it is: a text must end in a plan or a refusal)
            return Finding("crash", node.sql, f"{type(error).__name__}: {error}"[:200])
        known = known_rows(found.query.relation, self.policy)
        return Planned(node, found, tuple(known.person), known.most)

    # -- checking ----------------------------------------------------------------------------------------

    def check(self, questions: Iterable[Planned]) -> Iterator[Finding]:
        """Whatever is wrong with these, one finding for each question at most."""
        together: dict[str, list[Planned]] = {}
        for q in questions:
            if q.plain:
                scan = q.plan.tally.relation
                group = together.setdefault(scan.table.name, [])  # type: ignore[union-attr]  # plain
                group.append(q)
                if len(group) == self.batch:
                    yield from self._batch(group)
                    together[scan.table.name] = []  # type: ignore[union-attr]  # ditto
            else:
                yield from self._alone(q)
        for group in together.values():
            yield from self._batch(group)

    def _batch(self, group: Sequence[Planned]) -> Iterator[Finding]:
        """Many questions over one table in few statements; where these fail, the halves are tried."""
        if not group:
            return
        if len(group) == 1:
            yield from self._alone(group[0])
            return
        cells = tuple(c for q in group for c in q.plan.tally.cells)
        arguments = [c.argument for c in cells if c.argument is not None]
        relation, person = group[0].plan.tally.relation, group[0].person
        try:
            values = iter(self._by_person(relation, person, arguments))
            units = iter(self._units(relation, person, cells))
            totals = iter(self._totals(replace(group[0].plan.tally, cells=cells)))
            besides = [t for q in group for t in q.plan.tallies[1:]]
            for tally in besides:
                self.engine.run(tally)
        except Broken:
            middle = len(group) // 2
            yield from self._batch(group[:middle])
            yield from self._batch(group[middle:])
            return
        for q in group:
            own = q.plan.tally.cells
            found = self._judge(
                q,
                [next(values) if c.argument is not None else None for c in own],
                [next(units) for _ in own],
                [next(totals) for _ in own],
            )
            if found is not None:
                yield found

    def _alone(self, q: Planned) -> Iterator[Finding]:
        tally = q.plan.tally
        try:
            arguments = [c.argument for c in tally.cells if c.argument is not None]
            values = iter(self._by_person(tally.relation, q.person, arguments, one=q.most == 1))
            units = self._units(tally.relation, q.person, tally.cells)
            totals = None
            if not tally.cells and not tally.keys:
                totals = []  # everything is read off histograms
            elif tally.keys or tally.sets or tally.clip:
                exact = self.engine.run(tally)
                if q.plan.discovery is None:
                    aligned(exact, q.plan)
            else:
                totals = self._totals(tally)
            for histogram in q.plan.tallies[1:]:
                self.engine.run(histogram)
        except Broken as error:
            cause = error.__cause__ or error.__context__
            yield Finding("failure", q.sql, f"the engine failed: {str(cause or 'no words')[:160]}")
            return
        shown = [next(values) if c.argument is not None else None for c in tally.cells]
        if q.most > 1:
            shown = [None for _ in shown]
        found = self._judge(q, shown, units, totals)
        if found is not None:
            yield found

    # -- running -----------------------------------------------------------------------------------------

    def _by_person(
        self, relation: Any, person: Sequence[Any], wanted: Sequence[Any], *, one: bool = True
    ) -> list[list[Any]]:
        """The values of expressions, in the order of the rows; None of those that are missing or not there."""
        if not wanted:
            return []
        table = self.engine.run(Tally(relation, (*person, *wanted), ()))
        places = table.column(0).to_pylist()
        if one and len(set(places)) != len(places):
            raise AssertionError("a row of one person came twice")
        found = []
        for e, column in zip(wanted, table.columns[len(person) :], strict=True):
            own: list[Any] = [None] * self.many
            for place, value in zip(places, as_numbers(column, e.type.kind), strict=True):
                own[place] = value
            found.append(own)
        return found

    def _units(self, relation: Any, person: Sequence[Any], cells: Sequence[Any]) -> list[list[int]]:
        """What each person has in each cell; nothing where there is no row."""
        if not cells:
            return []
        table = self.engine.run(Tally(relation, tuple(person), tuple(cells)))
        places = table.column(0).to_pylist()
        found = []
        for column in table.columns[len(person) :]:
            own = [0] * self.many
            for place, value in zip(places, column.to_pylist(), strict=True):
                own[place] = int(value)
            found.append(own)
        return found

    def _totals(self, tally: Tally) -> list[int]:
        if not tally.cells:
            return []
        table = self.engine.run(tally)
        return [int(c.to_pylist()[0] or 0) if len(c) else 0 for c in table.columns]

    # -- judging -----------------------------------------------------------------------------------------

    def _judge(self, q: Planned, values: list[Any], units: list[list[int]], totals: list[int] | None) -> Finding | None:
        for part in (
            p for c in q.plan.tally.cells for e in (c.argument, c.condition) if e is not None for p in parts(e)
        ):
            if isinstance(part, Call):
                self.used.add(part.function)
        if isinstance(q.plan.tally.relation, Filter):
            self.used |= {p.function for p in parts(q.plan.tally.relation.condition) if isinstance(p, Call)}
        for i, (cell, reach) in enumerate(zip(q.plan.tally.cells, q.plan.reaches, strict=False)):
            # What tells most comes first: shrinking looks for the same again.
            why = self._told(q, units[i]) if reach.exact else None
            why = why or self._moves(q, units[i], reach)
            if why is None and values[i] is not None:
                why = inside(values[i], cell, whole=q.plain and cell.condition is None)
            why = why or summands(units[i], cell, q.most, values[i] if q.plain and cell.condition is None else None)
            if why is None and totals is not None and totals[i] != sum(units[i]):
                why = "total", f"the sum is {totals[i]}, of single rows {sum(units[i])}"
            if why is not None:
                return Finding(why[0], q.sql, f"cell {i}: {why[1]}")
        return provenance(q)

    def _told(self, q: Planned, units: list[int]) -> tuple[str, str] | None:
        """What is called exact is the same for all rows of a line; otherwise it tells a secret, and for nothing."""
        for name in mentioned(q.sql):
            for line in self.lines[name]:
                if len(told := {units[i] for i in line}) > 1:
                    return "leak", f"called exact, and {name} makes it {' or '.join(map(str, sorted(told)[:3]))}"
        return None

    def _moves(self, q: Planned, units: list[int], reach: Any) -> tuple[str, str] | None:
        table = "p" if re.search(r"\bFROM p\b", q.sql) else "v"
        keyed = bool(q.plan.tally.keys)
        if reach.persons is not None and (most := max(map(abs, units), default=0)) > reach.presence:
            return "presence", f"a row moves it by {most}, {reach.presence} was said"
        slopes = {attribute.rpartition(".")[2]: s for attribute, s in reach.slope}
        for name in mentioned(q.sql):
            for line in self.lines[name]:
                own = [units[i] for i in line]
                if max(own) - min(own) > reach.jump and not keyed:
                    return "jump", f"{name} moves it by {max(own) - min(own)}, {reach.jump} was said"
                if slopes and name in self.x[table]:
                    x = [self.x[table][name][i] for i in line]
                    why = steep(own, x, slopes.get(name, Fraction(0)), reach.rounding)
                    if why is not None:
                        return "slope", f"{name} {why}"
        return None


def mentioned(sql: str) -> list[str]:
    """The secret columns a text names."""
    return sorted(set(WORD.findall(sql)) & SECRET)


def provenance(q: Planned) -> Finding | None:
    """Exact only where nothing secret reaches a cell; never where rows of protected persons are read."""
    persons = re.search(r"\bFROM p\b", q.sql) is not None
    bare = any(r.exact for r in q.plan.reaches) or any(base is None for way in q.plan.ways for base in way.bases)
    if not bare or not (persons or mentioned(q.sql)):
        return None
    cells = [(t.keys, c) for t in q.plan.tallies for c in t.cells]
    touched = [persons or reached(q.plan.tally.relation, keys, cell) for keys, cell in cells]
    for i, reach in enumerate(q.plan.reaches):
        if reach.exact and touched[i]:
            return Finding(
                "exact", q.sql, f"cell {i} is called exact, and reads {'persons' if persons else 'a secret'}"
            )
    first = len(q.plan.tally.cells)
    # MIN and MAX are picked, which is charged, and nothing is counted beside them.
    ends = {
        i for i, h in enumerate(q.plan.histograms, first) if isinstance(h, Picking) and not h.inner and any(h.rates)
    }
    for way in q.plan.ways:
        bare = {i for i, base in enumerate(way.bases) if base is None and touched[i]}
        if way.top is None and bare - ends:
            return Finding("exact", q.sql, f"a way to blur ({way.name}) adds no noise to some cell")
    return None


def reached(relation: Any, keys: Any, cell: Any) -> bool:
    """Whether a secret column stands in anything that reaches the cell: in it, in its keys, in what decides rows."""
    made: dict[tuple[str, str], list[Any]] = {}
    for folded in anywhere(relation, PerPerson):
        for column, e in (*folded.person, *folded.keys, *folded.folds):
            made[column.ident] = [e]
    for union in anywhere(relation, Union):
        for i, column in enumerate(union.columns):
            made[column.ident] = [outputs[i] for _, outputs in union.branches]

    def secret(value: Any) -> bool:
        return any(
            any(map(secret, made[c.ident])) if c.ident in made else c.declared.role is Role.SENSITIVE
            for c in anywhere(value, Column)
        )

    deciding = [f.condition for f in anywhere(relation, (Filter, Join))]
    deciding += [e for p in anywhere(relation, PerPerson) for _, e in p.keys]
    return any(map(secret, (cell, keys, deciding)))


def anywhere(value: Any, kind: Any) -> Iterator[Any]:
    """Everything of a kind inside a frozen tree, found by its fields, whatever they are called."""
    if isinstance(value, kind):
        yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from anywhere(getattr(value, field.name), kind)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from anywhere(item, kind)


def inside(values: list[Any], cell: Any, *, whole: bool) -> tuple[str, str] | None:
    """Every value of the summand lies between the derived ends, and is missing only where that is foreseen."""
    e = cell.argument
    there = [v for v in values if v is not None]
    if whole and len(there) < len(values) and not e.type.nullable:
        return "null", "missing for some row although it is called not nullable"
    if e.type.bounds is None or not there:
        return None
    if any(isinstance(v, float) and not math.isfinite(v) for v in there):
        return "bounds", "not a finite number"
    low, high = min(there), max(there)
    ends = e.type.bounds
    if low < ends.low or high > ends.high:
        return "bounds", f"values in [{low!r}, {high!r}], derived [{brief(ends.low)}, {brief(ends.high)}]"
    return None


def summands(units: list[int], cell: Any, most: int, values: list[Any] | None) -> tuple[str, str] | None:
    """Every contribution lies between the ends of the cell; there is none where there is no row, or no value."""
    low, high = most * min(cell.low, 0), most * max(cell.high, 0)
    if min(units) < low or max(units) > high:
        return "units", f"summands in [{min(units)}, {max(units)}], derived [{cell.low}, {cell.high}]"
    counted = units if values is None else [u for u, v in zip(units, values, strict=True) if u or v is not None]
    if most == 1 and any((u or values is not None) and not cell.low <= u <= cell.high for u in counted):
        return "units", f"a summand outside [{cell.low}, {cell.high}]"
    return None


def steep(units: list[int], x: list[Any], slope: Fraction, rounding: Fraction) -> str | None:
    """|f(x) − f(x')| ≤ slope·|x − x'| + rounding for all pairs; doubles choose which pairs are looked at exactly."""
    there = [i for i, v in enumerate(x) if v is not None]
    if len(there) < 2:
        return None
    u = np.array([float(units[i]) for i in there])
    at = np.array([float(x[i]) for i in there])
    with np.errstate(all="ignore"):
        moved = np.abs(u[:, None] - u[None, :])
        allowed = np.nan_to_num(as_float(slope) * np.abs(at[:, None] - at[None, :]), posinf=1e308) + as_float(rounding)
        beyond = moved - allowed
        near = np.argwhere(beyond > -1e-9 * (1 + moved))
    order = sorted(near.tolist(), key=lambda p: -beyond[p[0], p[1]])
    for i, j in order[:12]:
        a, b = there[i], there[j]
        did = abs(units[a] - units[b])
        may = slope * abs(Fraction(x[a]) - Fraction(x[b])) + rounding
        if did > may:
            return f"from {x[a]!r} to {x[b]!r} moves it by {did} units, {float(may):.6g} were said"
    return None


def as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return 1e308


def as_numbers(column: Any, kind: Kind) -> list[Any]:
    """Dates as days and timestamps as microseconds since 1970; numbers as they are."""
    if kind is Kind.DATE:
        return column.cast("date32").cast("int32").to_pylist()
    if kind is Kind.TIMESTAMP:
        return column.cast("timestamp[us]").cast("int64").to_pylist()
    found = column.to_pylist()
    return [None if v is None else int(v) for v in found] if kind is Kind.INTEGER else found


def brief(end: Any) -> str:
    return repr(float(end)) if isinstance(end, Fraction) and end.denominator > 1 else str(end)


# -- searching and shrinking -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Searched:
    findings: tuple[Finding, ...]
    asked: int
    planned: int

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.planned} of {self.asked} questions were planned. Not as promised:", *map(str, self.findings)]
        )


def search(bench: Bench, grammar: Grammar, many: int, *, most: int = 10, small: bool = True) -> Searched:
    """Try so many questions, or until so many findings; each finding is made as small as can be."""
    findings: list[Finding] = []
    planned = asked = 0
    while asked < many and len(findings) < most:
        waiting: list[Planned] = []
        nodes: dict[str, Node] = {}
        for _ in range(min(4 * bench.batch, many - asked)):
            node = grammar.question()
            asked += 1
            nodes[node.sql] = node
            found = bench.planned(node)
            if isinstance(found, Finding):
                findings.append(found)
            elif found is not None:
                grammar.keep(node)
                waiting.append(found)
        planned += len(waiting)
        findings += bench.check(waiting)
        if small:
            findings = [shrunk(bench, nodes[f.sql], f) if f.sql in nodes else f for f in findings[:most]]
    return Searched(tuple(findings[:most]), asked, planned)


def shrunk(bench: Bench, node: Node, finding: Finding) -> Finding:
    """The smallest question found that breaks the same promise."""
    tries = bench.shrinks
    better = True
    while better:
        better = False
        for less in node.smaller():
            tries -= 1
            if tries < 0:
                return finding
            found = bench.planned(less)
            if isinstance(found, Planned):
                found = next(bench.check([found]), None)
            if found is not None and found.what == finding.what:
                node, finding, better = less, found, True
                break
    return finding
