"""How a csv file is written.

csv: {delimiter: ";"}                fields between semicolons; the rest is RFC 4180
csv: {delimiter: tab, quote: none}   fields between tabs, never in quotes
csv: {quote: "'"}                    quotes are single ones, doubled inside of a field
csv: {dates: {seen: day.month.year}} the dates of column `seen` are written like 28.11.2023
"""

import json

from nowiser.files.dates import is_form
from nowiser.model.schema import Column, Csv, Kind
from nowiser.policy import shape, values
from nowiser.policy.tree import Entries, Leaf, Node, suggestion

_WORDS = {"tab": "\t"}
NONE = "none"


def read_csv(node: Node, what: str, columns: tuple[Column, ...]) -> Csv:
    what = f"csv of {what}"
    entries = values.mapping(node, what)
    entries.only(shape.keys_of(shape.Csv), what)
    delimiter = _character(entries, "delimiter", what) or Csv.delimiter
    quoted = entries.get("quote")
    quote = None if isinstance(quoted, Leaf) and quoted.raw == NONE else _character(entries, "quote", what) or Csv.quote
    escape = _character(entries, "escape", what) or quote
    if quote is None and escape is not None:
        entries.keys["escape"].wrong(f"{what} has no quotes to escape", "Leave `escape` out, or name the quote.")
    if delimiter in (quote, escape):
        entries.place.wrong(f"{what} has the same character for two things", "Delimiter and quote differ.")
    dates = entries.get("dates")
    return Csv(delimiter, quote, escape, _dates(dates, what, columns) if dates is not None else ())


def _dates(node: Node, what: str, columns: tuple[Column, ...]) -> tuple[tuple[str, str], ...]:
    entries = values.mapping(node, f"dates of {what}")
    known = {c.name: c.kind for c in columns}
    for name, form in entries.entries.items():
        if name not in known:
            entries.keys[name].wrong(f"there is no column {name!r}", suggestion(name, known, "Columns"))
        if known[name] not in (Kind.DATE, Kind.TIMESTAMP):
            entries.keys[name].wrong(f"{name!r} is of kind {known[name].value}, not date or timestamp")
        if not is_form(values.text(form, f"the form of {name!r}")):
            form.place.wrong(
                f"the form of {name!r} must say where year, month and day stand",
                "For example `day.month.year`, or `month/day/year hour:minute`.",
            )
    return tuple(sorted((name, values.text(form, name)) for name, form in entries.entries.items()))


def _character(entries: Entries, key: str, what: str) -> str | None:
    node = entries.get(key)
    if node is None:
        return None
    said = node.raw if isinstance(node, Leaf) else ""
    character = _WORDS.get(said, said)
    if len(character) != 1 or not character.isascii() or character.isalnum() or character in "\r\n\0":
        node.place.wrong(f"{key} of {what} must be one character", "For example `;`, or the word `tab`.")
    return character


def spelled(character: str | None) -> str:
    """As a policy says it."""
    if character is None:
        return NONE
    return next((word for word, c in _WORDS.items() if c == character), json.dumps(character))
