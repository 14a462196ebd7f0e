"""Text of others on a terminal: what would steer the terminal is spelled out instead.

Questions are written by analysts and read by the custodian (`nowiser ledger`); names and values come from data and
policies. An escape sequence among them could clear the screen, rename the window or write over the line above; a mark
of writing direction could show a question other than the one that was asked.
"""

import re

# Control characters but tab and line feed, marks that turn the direction of writing, line separators, half characters.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text as it may stand on a terminal; lines and tabs stay."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def on_one_line(text: str) -> str:
    """The same for a cell of a table: line feeds are spelled out too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")
