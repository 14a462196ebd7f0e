"""How a csv file is written.

csv: {delimiter: ";"}                fields between semicolons; the rest is RFC 4180
csv: {delimiter: tab, quote: none}   fields between tabs, never in quotes
csv: {quote: "'"}                    quotes are single ones, doubled inside of a field
"""

import json

from nowiser.model.schema import Csv
from nowiser.policy import shape, values
from nowiser.policy.tree import Entries, Leaf, Node

_WORDS = {"tab": "\t"}
NONE = "none"


def read_csv(node: Node, what: str) -> Csv:
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
    return Csv(delimiter, quote, escape)


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
