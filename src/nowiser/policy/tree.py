"""The policy file as a tree in which every value knows where it stands.

YAML is read strictly, because a policy is a promise and a misread one is a broken one:

* only `true` and `false` are booleans (in YAML 1.1 `no` is one too, and Norway's country code with it);
* numbers are decimal and exact: `0.1` is a tenth, `1e-9` a billionth, `12:30` is text, not 750, and
  `02138` is an error that asks whether a number or a text is meant;
* dates are `2024-12-31`, timestamps `2024-12-31 23:59:00`;
* a key that stands twice is an error, and so are anchors, aliases and tags.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import yaml

from nowiser.errors import Misconfigured, Span

Scalar = Fraction | str | bool | date | datetime | None

_LONGEST_FILE = 1_000_000  # characters
_DEEPEST = 20
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE]([-+]?\d+))?\Z", re.ASCII)
_INTEGER = re.compile(r"[-+]?\d+\Z", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?\Z", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A stretch of a file. Raising goes through here, so that no message forgets where."""

    file: str
    text: str
    start: int
    end: int

    def wrong(self, message: str, hint: str | None = None) -> NoReturn:
        raise self.error(message, hint)

    def error(self, message: str, hint: str | None = None) -> Misconfigured:
        span = Span(self.text, self.start, max(self.end, self.start + 1))
        return Misconfigured(f"{self.file}:{span.line}:{span.column}: {message}", hint=hint, span=span)

    def without_text(self) -> "Place":
        """The same place with the text blotted out, where quoting it would show a secret."""
        hidden = "".join(c if c == "\n" else "•" for c in self.text[self.start : self.end])
        return Place(self.file, self.text[: self.start] + hidden + self.text[self.end :], self.start, self.end)

    def part(self, start: int, end: int) -> "Place":
        """The characters `start` to `end` of this stretch."""
        return Place(self.file, self.text, self.start + start, min(self.start + end, self.end))


@dataclass(frozen=True)
class Leaf:
    place: Place
    raw: str
    plain: bool  # written without quotes

    @property
    def value(self) -> Scalar:
        return _resolve(self) if self.plain else self.raw

    @property
    def is_whole(self) -> bool:
        """A number written without point and exponent."""
        return self.plain and _INTEGER.match(self.raw) is not None


@dataclass(frozen=True)
class Items:
    place: Place
    items: tuple["Node", ...]

    def __iter__(self) -> Iterator["Node"]:
        return iter(self.items)


@dataclass(frozen=True)
class Entries:
    place: Place
    entries: dict[str, "Node"]
    keys: dict[str, Place]

    def get(self, key: str) -> "Node | None":
        return self.entries.get(key)

    def only(self, allowed: Iterable[str], what: str) -> None:
        """Every key is one of these; otherwise the first stranger is shown with the nearest spelling."""
        known = list(allowed)
        for key, place in self.keys.items():
            if key not in known:
                place.wrong(f"unknown key {key!r} in {what}", suggestion(key, known, "Allowed keys"))

    def need(self, key: str, what: str, example: str) -> "Node":
        found = self.entries.get(key)
        if found is None:
            self.place.wrong(f"{what} has no {key!r}", f"Add for example `{example}`.")
        return found


Node = Leaf | Items | Entries


def suggestion(word: str, known: Iterable[str], title: str) -> str:
    """`Did you mean 'x'? Allowed keys: x, y.`"""
    names = list(known)
    near = get_close_matches(word, names, n=1, cutoff=0.75) or [
        n for n in names if len(word) > 1 and n.startswith(word)
    ]
    listed = f"{title}: {', '.join(names)}." if names else f"{title}: none."
    return f"Did you mean {near[0]!r}? {listed}" if near else listed


def read_tree(path: Path) -> Entries:
    """The mapping a policy file consists of. Bad YAML is `Misconfigured` at its place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise Misconfigured(
            f"there is no policy file {str(path)!r}",
            hint="`nowiser init data.csv` writes one; `-p file` names another.",
        ) from None
    except UnicodeDecodeError as error:
        raise Misconfigured(f"{path.name} is not UTF-8 text (byte {error.start})", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise Misconfigured(f"the policy file {str(path)!r} cannot be read: {error.strerror}") from None
    return parse_tree(text, path.name)


def parse_tree(text: str, file: str) -> Entries:
    whole = Place(file, text, 0, 0)
    if len(text) > _LONGEST_FILE:
        whole.wrong(f"a policy has at most {_LONGEST_FILE:,} characters, this one has {len(text):,}")
    try:
        _forbid_tricks(text, file)
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark is not None else 0
        Place(file, text, at, at + 1).wrong(
            f"this is not YAML: {error.problem or error.context}",
            "Check the indentation, the brackets and the space after each colon; put goals with brackets in quotes.",
        )
    except yaml.YAMLError as error:  # characters that YAML forbids
        whole.wrong(f"this is not YAML: {str(error).splitlines()[0]}")
    if root is None:
        whole.wrong("the policy is empty", "`nowiser init data.csv` writes one to start from.")
    tree = _convert(root, text, file)
    if not isinstance(tree, Entries):
        whole.wrong("a policy is a mapping of keys to values", "Start with `nowiser: 1`.")
    return tree


def _forbid_tricks(text: str, file: str) -> None:
    """No aliases (a few lines of them can unfold to gigabytes), no tags, no depths; checked without recursion."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        place = Place(file, text, event.start_mark.index, event.end_mark.index)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            place.wrong("anchors and aliases (& and *) are not understood in a policy", "Write the value out.")
        if getattr(event, "tag", None) is not None:
            place.wrong("tags (!) are not understood in a policy", "Write the value in quotes if it starts with `!`.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                place.wrong(f"nested more than {_DEEPEST} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _convert(node: yaml.Node, text: str, file: str) -> Node:
    place = Place(file, text, node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.ScalarNode):
        return Leaf(place, node.value, node.style is None)
    if isinstance(node, yaml.SequenceNode):
        return Items(place, tuple(_convert(child, text, file) for child in node.value))
    entries: dict[str, Node] = {}
    keys: dict[str, Place] = {}
    for key, value in node.value:
        where = Place(file, text, key.start_mark.index, key.end_mark.index)
        if not isinstance(key, yaml.ScalarNode):
            where.wrong("a key must be a single word or number")
        if key.value in keys:
            first = Span(text, keys[key.value].start, keys[key.value].end).line
            where.wrong(f"the key {key.value!r} stands twice; the first is in line {first}", "Keep one of them.")
        keys[key.value] = where
        entries[key.value] = _convert(value, text, file)
    return Entries(place, entries, keys)


def _resolve(leaf: Leaf) -> Scalar:
    raw = leaf.raw
    if raw in ("", "~", "null"):
        return None
    if raw in ("true", "false"):
        return raw == "true"
    if (number := _NUMBER.match(raw)) is not None:
        digits = raw.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            leaf.place.wrong(
                f"{raw} starts with a zero: a text or a number?",
                f'Write "{raw}" in quotes for the text, {digits.lstrip("0") or "0"} for the number.',
            )
        if len(raw) > 60 or abs(int(number[4] or 0)) > 300:
            leaf.place.wrong("this number is too long", "At most 60 characters and exponents from -300 to 300.")
        return Fraction(raw)
    if _DATE.match(raw) or _TIMESTAMP.match(raw):
        try:
            return date.fromisoformat(raw) if _DATE.match(raw) else datetime.fromisoformat(raw)
        except ValueError:
            leaf.place.wrong(f"{raw} is not in the calendar", "Put it in quotes if it is meant as text.")
    return raw
