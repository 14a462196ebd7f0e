"""How a recipe or the command line names a hierarchy, and how it is built for a column.

| spec                             | hierarchy                                                                  |
|----------------------------------|----------------------------------------------------------------------------|
| (nothing), `auto`                | what suits the column's values (see `automatic`)                            |
| `flat`                           | the value, then `*`                                                        |
| `file.csv`                       | one row per value: the value, its ancestors (`;`, `,` or tab)               |
| `dates`, `dates:dmy`             | month, quarter, year, decade; the order of day, month, year if it is unclear |
| `prefix`, `prefix:3:1`           | codes lose characters from the end, ISO dates become month, year            |
| `{prefix: [3, 1]}`               | only these prefix lengths                                                  |
| `intervals`, `intervals:5:10:20` | numbers in nice intervals, or of these widths, counted from 0               |
| `intervals:5:10:top=90`          | … everything from 90 on is one (`bottom=`: below; `from=`: counted from)    |
| `{intervals: [5, 10], from: 2}`  | the same in a recipe: `from`, `bottom`, `top`                               |
| `frequency`, `frequency:8:3`     | the most frequent values stay apart, so many at each level                  |
| `{rule: [first 3, first 1]}`     | a rule per level: `first N`, `last N`, `round W`, `year`, `month`, `decade`  |
| `{groups: [{young: [a, b]}, …]}` | the groups of each level written out                                       |
| `{tree: {Europe: [DE, FR], …}}`  | a tree, as deep as it is written                                            |
"""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies import automatic, codes, frequency
from nowiser.microdata.hierarchies.climbing import climb, flat
from nowiser.microdata.hierarchies.dates import dates
from nowiser.microdata.hierarchies.hierarchy import ROOT, Hierarchy, build
from nowiser.microdata.hierarchies.numbers import Intervals, intervals, nice
from nowiser.microdata.hierarchies.tree import of_tree
from nowiser.microdata.table.column import Column

Spec = str | Mapping[str, Any] | Hierarchy | Sequence[Sequence[str]] | None
FORMS = (
    "a .csv file, auto, flat, dates, prefix, intervals:WIDTH:WIDTH…, frequency:N:N…, {rule: […]}, {groups: […]}, "
    "{tree: {…}}, or nothing"
)


def hierarchy(column: Column, spec: Spec, folder: Path | None = None) -> Hierarchy:
    """The hierarchy a spec means for a column. Relative files start at `folder`."""
    if isinstance(spec, Hierarchy):
        return spec
    if isinstance(spec, Mapping):
        return _from_mapping(column, spec, folder)
    if spec is None or isinstance(spec, str):
        return _from_text(column, spec or automatic.AUTO, folder)
    return build(column, [[str(v) for v in row] for row in spec], kind="table")


def _from_text(column: Column, spec: str, folder: Path | None) -> Hierarchy:
    name = column.name
    word, _, rest = spec.partition(":")
    parts = [p.strip() for p in rest.split(":")] if rest else []
    if spec == automatic.AUTO:
        return _from_text(column, automatic.proposed(column), folder)
    if spec == automatic.FLAT:
        return flat(column)
    if word == "dates" and len(parts) < 2:
        return dates(column, parts[0] if parts else None)
    if word == "prefix":
        return _prefix(column, [_count(name, n) for n in parts] if parts else None)
    if word == "intervals":
        return _intervals(column, [p for p in parts if "=" not in p], dict(p.split("=", 1) for p in parts if "=" in p))
    if word == "frequency":
        return frequency.by_frequency(
            column, [_count(name, n) for n in parts] if parts else frequency.proposed(column) or [1]
        )
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
    if "intervals" in keys and keys <= {"intervals", *ENDS}:
        widths = spec["intervals"] if isinstance(spec["intervals"], list) else [spec["intervals"]]
        return _intervals(column, widths, {k: spec[k] for k in keys - {"intervals"}})
    if keys == {"rule"}:
        rules = spec["rule"] if isinstance(spec["rule"], list) else [spec["rule"]]
        return _rules(column, [str(r) for r in rules])
    if keys == {"groups"}:
        return _groups(column, spec["groups"])
    if keys == {"tree"}:
        return of_tree(column, spec["tree"])
    raise Misconfigured(
        f"the hierarchy of {name!r} has the keys {', '.join(sorted(map(str, keys)))}",
        hint="Allowed: one of file, prefix, intervals (with from, bottom, top), rule, groups, tree.",
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


def is_date(label: str) -> bool:
    return len(label) >= 10 and label[4:5] == "-" and label[7:8] == "-" and label[:4].isdigit() and label[5:7].isdigit()


def _prefix(column: Column, lengths: list[int] | None) -> Hierarchy:
    labels = column.labels
    if labels and all(map(is_date, labels)):
        cuts = codes.falling(column.name, lengths or [7, 4])
        return climb(column, [partial(_start, labels, n) for n in cuts], kind="date prefixes")
    return codes.prefixes(column, lengths)


def _start(labels: Sequence[str], n: int, code: int) -> str:
    return labels[code][:n]


ENDS = ("from", "bottom", "top")


def _intervals(column: Column, widths: Sequence[Any], ends: Mapping[str, Any]) -> Hierarchy:
    name = column.name
    if strange := sorted(set(ends) - set(ENDS)):
        raise Misconfigured(f"the intervals of {name!r} have no {strange[0]!r}", hint=f"Allowed: {', '.join(ENDS)}.")
    if not widths and not ends and column.is_numeric:
        found = nice(column)
        return flat(column) if found is None else intervals(column, found)
    if not widths and column.is_numeric:
        raise Misconfigured(f"the intervals of {name!r} need widths, as in intervals:5:10:top=90")
    given = {k: _number(name, k, v) for k, v in ends.items()}
    wanted = Intervals(
        tuple(_width(name, w) for w in widths), given.get("from", 0.0), given.get("bottom"), given.get("top")
    )
    return intervals(column, wanted)


def _number(name: str, what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise Misconfigured(f"`{what}` of the intervals of {name!r} is a number, not {value!r}")
    return number


def _rules(column: Column, rules: list[str]) -> Hierarchy:
    return climb(column, [_rule(column, r) for r in rules], kind="rules " + ", ".join(rules))


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
