"""Texts as YAML reads them back, and names that SQL takes."""

import json
from collections.abc import Iterable

from nowiser.policy.tree import Leaf, Place


def spell(text: str) -> str:
    """The text as YAML reads it back: bare where that is safe, otherwise in double quotes."""
    return text if _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    letters = text.replace("_", "").replace(" ", "").replace("-", "").replace(".", "").replace("/", "")
    if not letters.isalnum() or not letters.isascii() or text != text.strip() or text[0] in "-./ ":
        return False
    if not text[0].isalpha() or text.lower() in ("yes", "no", "on", "off"):  # a text, but not to every reader
        return False
    return isinstance(Leaf(Place("", text, 0, len(text)), text, plain=True).value, str)


def table_name(stem: str, taken: Iterable[str] = ()) -> str:
    """A name SQL takes without quotes, from the name of a file."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem.lower()).strip("_") or "data"
    name = name if name[0].isalpha() else f"t_{name}"
    while name in taken:
        name += "_"
    return name
