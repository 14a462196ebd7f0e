"""Codes by prefix: postal codes, ICD and the like lose characters from the end."""

import re
from collections.abc import Sequence
from functools import partial

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.climbing import climb
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Column

ICD10 = re.compile(r"[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?[-*+!]?")
POSTAL = re.compile(r"(?:[A-Z]{1,2}-)?\d{4,6}(?:-\d{4})?|[A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}")
CODE = re.compile(r"(?=.*\d)[0-9A-Za-z][0-9A-Za-z./-]{2,15}")
POSTAL_NAME = re.compile(r"(?:^|[^a-z])(?:zip|plz|postal|postcode|post)(?:$|[^a-z])|zip_?code|postcode|postleitzahl")
STEPS = 4  # levels of a long code
FEWEST = 8  # different values from which letting codes lose characters is worth it


def proposed(column: Column) -> list[int] | None:
    """The prefix lengths that suit a column of codes; None where its values are none."""
    labels = column.labels
    if len(labels) < FEWEST or (column.is_numeric and not is_postal(column)):
        return None
    longest = max(map(len, labels))
    if all(ICD10.fullmatch(label) for label in labels):
        return [3, 1] if longest > 3 else [1]
    if is_postal(column):
        return list(range(longest - 1, 0, -1))[:5] if longest <= 6 else [5, 3, 2, 1]
    if not all(CODE.fullmatch(label) for label in labels) or len({len(label) for label in labels}) > 3:
        return None
    lengths = sorted({longest * step // (STEPS + 1) for step in range(1, STEPS + 1)} - {0}, reverse=True)
    while lengths and len({label[: lengths[0]] for label in labels}) == len(labels):
        lengths = lengths[1:]  # cutting there would unite nothing
    while lengths and len({label[: lengths[-1]] for label in labels}) == 1:
        lengths = lengths[:-1]  # … and there everything
    return lengths or None


def is_postal(column: Column) -> bool:
    return bool(POSTAL_NAME.search(column.name.lower())) and all(POSTAL.fullmatch(v.upper()) for v in column.labels)


def prefixes(column: Column, lengths: list[int] | None) -> Hierarchy:
    """Only the first characters, the rest as stars; without lengths one character less at every level."""
    labels = column.labels
    longest = max(map(len, labels), default=1)
    cuts = falling(column.name, lengths or list(range(longest - 1, 0, -1)))
    return climb(column, [partial(_cut, labels, longest, n) for n in cuts], kind="prefixes")


def _cut(labels: Sequence[str], longest: int, n: int, code: int) -> str:
    label = labels[code]
    return label[:n] + "*" * (longest - n) if len(label) > n else label + "*" * (longest - len(label))


def falling(name: str, lengths: list[int]) -> list[int]:
    if sorted(set(lengths), reverse=True) != lengths:
        raise Misconfigured(f"prefix lengths of {name!r} must fall from level to level, not {lengths}")
    return lengths
