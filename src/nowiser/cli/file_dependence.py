# ruff: noqa: S608 (the SQL is made of our own words and of quoted names)
"""Can one column be read off another? Measured cheaply, on at most 100,000 rows; for the custodian's eyes only.

| secret  | giver   | share of what is unknown that the giver tells                                          |
|---------|---------|----------------------------------------------------------------------------------------|
| labels  | labels  | Goodman and Kruskal's λ: by how much the best guess errs less when the giver is known  |
| number  | labels  | the part of the variance that lies between groups (η²)                                 |
| number  | number  | the squared correlation                                                                |

A giver with nearly as many values as rows tells everything about the rows of the file and nothing about the next one:
groups of five rows on average are asked for.
"""

from collections.abc import Callable, Iterable
from typing import Any

from nowiser.policy.draft.proposals import Tells

SAMPLE = 100_000
ROWS_PER_GROUP = 5
MUCH = {False: 0.9, True: 0.8}  # of labels, of the variance of numbers

Run = Callable[[str], list[tuple[Any, ...]]]
Named = tuple[str, bool]  # a column, and whether it is a number with a range


def sampled(relation: str) -> str:
    return f"SELECT * FROM {relation} USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)"


def told(run: Run, relation: str, givers: Iterable[Named], secrets: Iterable[Named]) -> list[Tells]:
    """Every pair of them in which the giver tells much."""
    found = []
    secrets = list(secrets)
    for giver in givers:
        for secret in secrets:
            share = _share(run, relation, giver, secret) if giver != secret else None
            if share is not None and share >= MUCH[secret[1]]:
                found.append(Tells(giver[0], secret[0], share, number=secret[1]))
    return found


def _share(run: Run, relation: str, giver: Named, secret: Named) -> float | None:
    (g, giver_is_number), (s, is_number) = ((_quoted(name), number) for name, number in (giver, secret))
    both = f"FROM {relation} WHERE {g} IS NOT NULL AND {s} IS NOT NULL"
    if is_number and giver_is_number:
        ((found,),) = run(f"SELECT CASE WHEN var_pop({g}) > 0 AND var_pop({s}) > 0 THEN corr({g}, {s}) END {both}")
        return None if found is None else min(1.0, float(found) ** 2)
    if is_number:
        groups = f"SELECT COUNT(*) AS n, var_pop({s}) AS v {both} GROUP BY {g}"
        ((rows, many, inside),) = run(f"SELECT SUM(n), COUNT(*), SUM(n * v) FROM ({groups})")
        ((whole,),) = run(f"SELECT var_pop({s}) {both}")
        if not _repeats(rows, many) or not whole:
            return None
        return 1 - float(inside) / (float(rows) * float(whole))
    pairs = f"SELECT {g} AS g, {s} AS s, COUNT(*) AS n {both} GROUP BY ALL"
    ((rows, many, right),) = run(
        f"SELECT SUM(t), COUNT(*), SUM(m) FROM (SELECT SUM(n) AS t, MAX(n) AS m FROM ({pairs}) GROUP BY g)"
    )
    ((blind,),) = run(f"SELECT MAX(n) FROM (SELECT COUNT(*) AS n {both} GROUP BY {s})")
    if not _repeats(rows, many) or rows == blind:
        return None
    return float(right - blind) / float(rows - blind)


def _repeats(rows: int | None, groups: int) -> bool:
    return bool(rows) and groups > 1 and groups * ROWS_PER_GROUP <= (rows or 0)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
