"""How a recipe or the command line names a hierarchy, and how it is built for a column.

| spec                             | hierarchy                                                                  |
|----------------------------------|----------------------------------------------------------------------------|
| (nothing)                        | the value, then `*`                                                        |
| `file.csv`                       | one row per value: the value, its ancestors (`;`, `,` or tab)               |
| `prefix`                         | codes lose characters from the end, ISO dates become month, year            |
| `{prefix: [3, 1]}`               | only these prefix lengths                                                  |
| `intervals:5:10:20`              | numbers in intervals of these widths, counted from 0                        |
| `{intervals: [5, 10], from: 2}`  | … counted from 2                                                           |
| `{rule: [first 3, first 1]}`     | a rule per level: `first N`, `last N`, `round W`, `year`, `month`, `decade`  |
| `{groups: [{young: [a, b]}, …]}` | the groups of each level written out                                       |
"""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.hierarchy import ROOT, Hierarchy, build
from nowiser.microdata.table.column import Column

Spec = str | Mapping[str, Any] | Hierarchy | Sequence[Sequence[str]] | None
FORMS = "a .csv file, prefix, intervals:WIDTH:WIDTH…, {rule: […]}, {groups: […]}, or nothing"


def hierarchy(column: Column, spec: Spec, folder: Path | None = None) -> Hierarchy:
    """The hierarchy a spec means for a column. Relative files start at `folder`."""
    name = column.name
    if isinstance(spec, Hierarchy):
        return spec
    if spec is None or spec == "":
        return build(column, [(label, ROOT) for label in column.labels] or [("", ROOT)], kind="value, *")
    if isinstance(spec, Mapping):
        return _from_mapping(column, spec, folder)
    if not isinstance(spec, str):
        return build(column, [[str(v) for v in row] for row in spec], kind="table")
    word, _, rest = spec.partition(":")
    if word == "prefix":
        return _prefix(column, [_count(name, n) for n in rest.split(":")] if rest else None)
    if word == "intervals" and rest:
        return _intervals(column, [_width(name, w) for w in rest.split(":")], 0.0)
    path = Path(spec) if folder is None else folder / spec
    if path.suffix.lower() in {".csv", ".tsv", ".txt"} or path.exists():
        return build(column, read_rows(path, name), kind=path.name)
    raise Misconfigured(f"the hierarchy of {name!r} is {spec!r}, which is none of the forms", hint=f"Forms: {FORMS}.")


def _from_mapping(column: Column, spec: Mapping[str, Any], folder: Path | None) -> Hierarchy:
    name, keys = column.name, set(spec)
    if keys == {"file"}:
        return hierarchy(column, str(spec["file"]), folder)
    if keys == {"prefix"}:
        lengths = spec["prefix"] if isinstance(spec["prefix"], list) else [spec["prefix"]]
        return _prefix(column, [_count(name, n) for n in lengths])
    if keys in ({"intervals"}, {"intervals", "from"}):
        widths = spec["intervals"] if isinstance(spec["intervals"], list) else [spec["intervals"]]
        return _intervals(column, [_width(name, w) for w in widths], float(spec.get("from", 0)))
    if keys == {"rule"}:
        rules = spec["rule"] if isinstance(spec["rule"], list) else [spec["rule"]]
        return _rules(column, [str(r) for r in rules])
    if keys == {"groups"}:
        return _groups(column, spec["groups"])
    raise Misconfigured(
        f"the hierarchy of {name!r} has the keys {', '.join(sorted(map(str, keys)))}",
        hint="Allowed: one of file, prefix, intervals (with from), rule, groups.",
    )


def read_rows(path: Path, name: str) -> list[list[str]]:
    """The rows of a hierarchy file; its separator is found by which one gives all rows the same width."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise Misconfigured(f"the hierarchy file of {name!r} is not there: {path}") from None
    except UnicodeDecodeError as error:
        raise Misconfigured(f"the hierarchy file {path} is not UTF-8 (byte {error.start})") from None
    for separator in (";", "\t", ","):
        rows = [r for r in csv.reader(content.splitlines(), delimiter=separator) if r]
        widths = {len(r) for r in rows}
        if len(widths) == 1 and widths.pop() > 1:
            return rows
    raise Misconfigured(
        f"the hierarchy file {path} is no table: its rows differ in length or have no ancestors",
        hint="One row per value: the value, then its ancestors up to *, separated by ; or , or tab.",
    )


def _count(name: str, value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise Misconfigured(f"prefix lengths of {name!r} are whole numbers from 1, not {value!r}")
    return count


def _width(name: str, value: Any) -> float:
    try:
        width = float(value)
    except (TypeError, ValueError):
        width = 0.0
    if not (width > 0 and math.isfinite(width)):
        raise Misconfigured(f"interval widths of {name!r} are positive numbers, not {value!r}")
    return width


def _climb(column: Column, rules: Sequence[Callable[[int], str]], *, kind: str, ordered: bool = False) -> Hierarchy:
    """A hierarchy from one function of the value's code per level, closed by the root."""
    rows = []
    for code, label in enumerate(column.labels):
        row = [label, *(rule(code) for rule in rules)]
        rows.append([*row, ROOT])
    return build(column, rows or [["", ROOT]], kind=kind, ordered=ordered)


def is_date(label: str) -> bool:
    return len(label) >= 10 and label[4:5] == "-" and label[7:8] == "-" and label[:4].isdigit() and label[5:7].isdigit()


def _prefix(column: Column, lengths: list[int] | None) -> Hierarchy:
    labels = column.labels
    if labels and all(map(is_date, labels)):
        cuts = lengths or [7, 4]
        return _climb(column, [partial(_start, labels, n) for n in _falling(column.name, cuts)], kind="date prefixes")
    longest = max(map(len, labels), default=1)
    cuts = lengths or list(range(longest - 1, 0, -1))

    def cut(n: int, code: int) -> str:
        label = labels[code]
        return label[:n] + "*" * (longest - n) if len(label) > n else label + "*" * (longest - len(label))

    return _climb(column, [partial(cut, n) for n in _falling(column.name, cuts)], kind="prefixes")


def _start(labels: Sequence[str], n: int, code: int) -> str:
    return labels[code][:n]


def _falling(name: str, lengths: list[int]) -> list[int]:
    if sorted(set(lengths), reverse=True) != lengths:
        raise Misconfigured(f"prefix lengths of {name!r} must fall from level to level, not {lengths}")
    return lengths


def _intervals(column: Column, widths: list[float], start: float) -> Hierarchy:
    if not column.is_numeric:
        bad = [lab for lab, x in zip(column.labels, column.value_numbers, strict=True) if not math.isfinite(x)]
        raise Misconfigured(
            f"intervals need numbers, and {column.name!r} holds values that are none: {', '.join(map(repr, bad[:5]))}"
        )
    for small, large in pairwise(widths):
        if large <= small or abs(large / small - round(large / small)) > 1e-9:
            raise Misconfigured(
                f"interval widths of {column.name!r} must be multiples of each other to be nested, "
                f"and {large:g} is not a multiple of {small:g}"
            )
    numbers = column.value_numbers
    whole = bool(np.all(numbers == np.round(numbers))) and all(w == round(w) for w in widths) and start == round(start)

    def interval(width: float, code: int) -> str:
        low = start + math.floor((numbers[code] - start) / width) * width
        if whole:
            return f"{low:.0f}" if width == 1 else f"{low:.0f}-{low + width - 1:.0f}"
        return f"[{low:g}, {low + width:g})"

    rules = [partial(interval, w) for w in widths]
    return _climb(column, rules, kind="intervals " + ", ".join(f"{w:g}" for w in widths), ordered=True)


def _rules(column: Column, rules: list[str]) -> Hierarchy:
    return _climb(column, [_rule(column, r) for r in rules], kind="rules " + ", ".join(rules))


def _rule(column: Column, rule: str) -> Callable[[int], str]:
    labels, (word, *args) = column.labels, rule.split() or [""]
    if word in {"first", "last"} and len(args) == 1:
        n = _count(column.name, args[0])
        return (lambda c: labels[c][:n]) if word == "first" else (lambda c: labels[c][-n:])
    if word == "round" and len(args) == 1:
        width, numbers = _width(column.name, args[0]), column.value_numbers
        return lambda c: f"{math.floor(numbers[c] / width + 0.5) * width:g}" if math.isfinite(numbers[c]) else labels[c]
    if not args and word in {"year", "month", "decade"}:
        cut = {"year": 4, "month": 7, "decade": 3}[word]
        return lambda c: labels[c][:cut] + ("0s" if word == "decade" else "")
    raise Misconfigured(
        f"the hierarchy of {column.name!r} has an unknown rule {rule!r}",
        hint="Rules: first N, last N, round W, year, month, decade.",
    )


def _groups(column: Column, levels: Any) -> Hierarchy:
    if not isinstance(levels, list) or not all(isinstance(level, Mapping) for level in levels):
        raise Misconfigured(f"groups of {column.name!r} are a list of levels, each a mapping label: [members]")
    above: list[dict[str, str]] = [
        {str(member): str(label) for label, members in level.items() for member in members} for level in levels
    ]
    rows = []
    for label in dict.fromkeys((*column.labels, *(above[0] if above else {}))):
        row, current = [label], label
        for level in above:
            current = level.get(current, current)
            row.append(current)
        rows.append([*row, ROOT])
    return build(column, rows, kind="groups")
