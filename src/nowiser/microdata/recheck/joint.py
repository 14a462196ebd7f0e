"""The joint gain from its definition in SQL: every centre per column, every combination of centres, every group.

A goal arrives as a tree of plain values (`("and", ("within", "time", 2.0), ("exactly", "dish"))`).
"""
# ruff: noqa: S608  (names are numbers given here; texts enter only through `text`)

from collections.abc import Callable, Sequence
from typing import Any

Tree = Sequence[Any]


def columns_of(tree: Tree) -> tuple[str, ...]:
    """The columns a goal names, each once, in order."""
    if tree[0] in {"and", "or", "not"}:
        return tuple(dict.fromkeys(c for part in tree[1:] for c in columns_of(part)))
    return (str(tree[1]),)


def joint_gain(
    run: Callable[[str], Any], tree: Tree, keys: Sequence[str], places: Sequence[str], *, by_person: bool
) -> str:
    """SQL for the largest after − before over all groups and guesses.

    Reads `released` (group keys, sensitive values in `places`, rows).
    """
    columns = columns_of(tree)
    shown = ", ".join(f"{place} AS v{i}" for i, place in enumerate(places))
    run(f"CREATE OR REPLACE TEMP TABLE joint_prior AS SELECT {shown}, sum(rows) AS m FROM released GROUP BY ALL")
    by = "".join(f"{k}, " for k in keys)
    over = f"PARTITION BY {', '.join(keys)}" if keys else ""
    run(
        f"CREATE OR REPLACE TEMP TABLE joint_rows AS SELECT *, sum(c) OVER ({over}) AS size FROM "
        f"(SELECT {by}{shown}, sum(rows) AS c FROM released GROUP BY ALL)"
    )
    centres = ", ".join(f"({_centres(i, column, tree)}) AS t{i}" for i, column in enumerate(columns))
    run(f"CREATE OR REPLACE TEMP TABLE joint_guesses AS SELECT row_number() OVER () AS g, * FROM {centres}")
    right = _sql(tree, columns)
    if by_person:  # right about a person is who is right about one of her rows
        run(f"CREATE OR REPLACE TEMP TABLE joint_owned AS SELECT DISTINCT {by}{shown}, who FROM released")
        share = f"count(DISTINCT who) FILTER ({right}) / count(DISTINCT who)"
        after = f"SELECT {by}g, {share} AS a FROM joint_owned, joint_guesses GROUP BY {by}g"
        before = f"SELECT g, {share} AS b FROM joint_owned, joint_guesses GROUP BY g"
        return f"SELECT max(a - b) FROM ({after}) JOIN ({before}) USING (g)"
    after = f"SELECT {by}g, coalesce(sum(c) FILTER ({right}), 0) / max(size) AS a FROM joint_rows, joint_guesses "
    after += f"GROUP BY {by}g"
    before = f"SELECT g, coalesce(sum(m) FILTER ({right}), 0) / sum(m) AS b FROM joint_prior, joint_guesses GROUP BY g"
    return f"SELECT max(a - b) FROM ({after}) JOIN ({before}) USING (g)"


def _number(value: str) -> str:
    """A text as the number it stands for: dates count days, times seconds."""
    moment = f"CASE WHEN contains({value}, ':') THEN epoch(TRY_CAST({value} AS TIMESTAMP)) "
    moment += f"ELSE epoch(TRY_CAST({value} AS DATE)) / 86400 END"
    return f"coalesce(TRY_CAST({value} AS DOUBLE), {moment})"


def _radii(column: str, tree: Tree) -> list[float]:
    if tree[0] in {"and", "or", "not"}:
        return [r for part in tree[1:] for r in _radii(column, part)]
    return [float(tree[2])] if tree[0] == "within" and tree[1] == column else []


def _centres(at: int, column: str, tree: Tree) -> str:
    radii = _radii(column, tree)
    if not radii:
        return f"SELECT v{at} AS y{at}, false AS nobody{at} FROM joint_prior GROUP BY ALL UNION ALL SELECT NULL, true"
    reach = ", ".join(f"({sign}{r!r})" for r in [0.0, *radii] for sign in ("", "-"))
    points = f"SELECT DISTINCT x + e AS y FROM (SELECT {_number(f'v{at}')} AS x FROM joint_prior) "
    points += f"JOIN (VALUES {reach}) t(e) ON x IS NOT NULL"
    return (
        f"WITH points AS ({points}) SELECT y AS y{at} FROM points UNION "
        f"SELECT (y + lead(y) OVER (ORDER BY y)) / 2 FROM points UNION SELECT max(y) + 1 FROM points"
    )


def _sql(tree: Tree, columns: Sequence[str], whole: Tree | None = None) -> str:
    """The condition under which a guess (y0, y1, …) is right about a row (v0, v1, …)."""
    goal = tree if whole is None else whole
    if tree[0] == "not":
        return f"(NOT {_sql(tree[1], columns, goal)})"
    if tree[0] in {"and", "or"}:
        return "(" + f" {tree[0].upper()} ".join(_sql(part, columns, goal) for part in tree[1:]) + ")"
    at = columns.index(tree[1])
    value, centre = f"v{at}", f"y{at}"
    if tree[0] == "within":
        condition = f"abs({_number(value)} - {centre}) <= {float(tree[2])!r} + 1e-9"
    elif tree[0] == "exactly" and _radii(tree[1], goal):
        condition = f"abs({_number(value)} - {centre}) <= 1e-9"
    elif tree[0] == "exactly":
        condition = f"({value} IS NOT DISTINCT FROM {centre} AND NOT nobody{at})"
    elif tree[0] == "among":
        condition = f"{value} IN ({', '.join(text(str(v)) for v in tree[2])})"
    else:
        condition = f"{_number(value)} BETWEEN {float(tree[2])!r} - 1e-9 AND {float(tree[3])!r} + 1e-9"
    return f"coalesce({condition}, false)"


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
