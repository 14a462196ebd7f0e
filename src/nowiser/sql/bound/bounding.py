"""What clipping and row limits may have lost: said from the policy, so that saying it tells nothing."""

from datetime import date, datetime, timedelta
from fractions import Fraction

from nowiser.model.schema import Kind, Table
from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.plan.cells import sum_cell
from nowiser.sql.tree import Column, Query, columns, scans

NEVER_EXACT = {
    "min": "MIN is never that of a row: as a rule it is too high, by as many rows as the noise hides.",
    "max": "MAX is never that of a row: as a rule it is too low, by as many rows as the noise hides.",
    "quantile": "Quantiles are known to a bucket of the range.",
    "quantile_disc": "Quantiles are known to a bucket of the range.",
}


def bounding(query: Query, *, found: bool = False) -> tuple[str, ...]:
    """One sentence for each thing that may have been left out or clipped. `found`: groups are found in the data."""
    notes = []
    for scan in {(s.table.name, s.by): s for s in scans(query.relation)}.values():
        table, by = scan.table, scan.by
        if table.is_public or table.row_is_person:
            continue  # a row that is a person has no further ones
        rows = _plural(table.rows_per_person, "row")
        if by is None:
            count = "counts" if table.rows_per_person == 1 else "count"
            notes.append(
                f"{table.name}: at most {rows} of each person {count}; any further, however many, are left out"
                f" (clipped=True estimates them){_each(query, rows)}."
            )
        else:
            groups = _plural(table.groups_per_person or 1, "value")
            each = (
                _clipped(query, table, rows) if scan.whole else f"with at most {rows} each; any further are left out."
            )
            estimated = " clipped=True estimates how many rows, not how many groups."
            notes.append(f"{table.name}: of each person at most {groups} of {by} count, {each}{estimated}")
    for aggregate in query.aggregates:
        for c in columns(aggregate.argument):
            clipped = c.derived is None and c.declared.low is not None and c.declared.high is not None
            if clipped and aggregate.function != "count":
                assert c.declared.low is not None
                assert c.declared.high is not None
                low, high = (shown_end(end, c.declared.kind) for end in (c.declared.low, c.declared.high))
                ends = f"values outside {low} to {high} count as the nearer end"
                notes.append(f"{c.attribute}: {ends} (clipped=True estimates how many).")
            if c.derived is None and c.declared.one_per_person:
                notes.append(f"{c.attribute}: one value per person; of several the first in the source counts.")
        if aggregate.function in NEVER_EXACT:
            notes.append(NEVER_EXACT[aggregate.function])
    notes += [
        f"{key.attribute}: rows without one of the declared values appear in no group."
        if isinstance(key, Column) and key.derived is None
        else "Rows for which a key is NULL appear in no group."
        for key in query.keys
    ]
    if found:
        notes.append("Groups that too few persons share are not shown.")
    return tuple(dict.fromkeys(notes))


def _each(query: Query, rows: str) -> str:
    """By how much one row that is left out would have moved counts and sums: known from the declared ranges."""
    moved = ["each would have raised the count by 1"] if any(a.function == "count" for a in query.aggregates) else []
    for aggregate in query.aggregates:
        c = aggregate.argument
        if aggregate.function == "sum" and isinstance(c, Column) and c.derived is None:
            low, high = c.declared.low, c.declared.high
            if low is not None and high is not None:
                most = float(max(abs(low), abs(high)))
                moved.append(f"each would have moved the sum of {c.attribute} by at most {most:g}")
    if any(a.function == "avg" for a in query.aggregates):
        moved.append(f"in averages nobody weighs more than {rows}")
    return "".join(f"; {m}" for m in dict.fromkeys(moved))


def _clipped(query: Query, table: Table, rows: str) -> str:
    """What a person can have in a group, where totals are clipped."""
    said = [f"as at most {rows}"] if any(a.function == "count" and not a.distinct for a in query.aggregates) else []
    for a in query.aggregates:
        if a.function == "sum" and a.argument is not None:
            low, high = Clip((), table.rows_per_person).ends(cell := sum_cell(a.argument, a.condition, centred=False))
            what = a.argument.attribute if isinstance(a.argument, Column) else "the expression"
            said.append(f"in the sum of {what} as {float(low * cell.unit):g} to {float(high * cell.unit):g}")
    if any(a.function == "avg" for a in query.aggregates):
        said.append(f"in averages with the weight of at most {rows}")
    counted = f", each {', '.join(dict.fromkeys(said))}" if said else ""
    return f"any further are left out{counted}: whatever a person has there, it is clipped to that."


def shown_end(end: Fraction, kind: Kind) -> str:
    """An end of a declared range as people write it."""
    if kind is Kind.DATE:
        return (date(1970, 1, 1) + timedelta(days=int(end))).isoformat()
    if kind is Kind.TIMESTAMP:
        return (datetime(1970, 1, 1) + timedelta(microseconds=int(end))).isoformat(" ")  # noqa: DTZ001 (moments have no zone)
    return f"{float(end):g}"


def _plural(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
