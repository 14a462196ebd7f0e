"""What a statement is for: the session (BEGIN, SET, FETCH, …), COPY, EXPLAIN, or a question.

`command_of` gives a value for what is understood here, and a Question for everything else: the gateway says why it is
refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from nowiser.server.wire.text.copying import CopySpec, Unknown, spec_of
from nowiser.server.wire.text.statements import Part, Token, tokens

MOST_FETCHED = 2**31 - 1


@dataclass(frozen=True)
class Question:
    text: str
    start: int = 0  # where it begins in the statement


@dataclass(frozen=True)
class Explain:
    inner: Question
    as_json: bool = False


@dataclass(frozen=True)
class Copy:
    inner: Question
    spec: CopySpec


@dataclass(frozen=True)
class Declare:
    name: str
    inner: Question
    binary: bool = False


@dataclass(frozen=True)
class Fetch:
    """`number`: rows forward."""

    name: str
    number: int
    move: bool = False


@dataclass(frozen=True)
class Close:
    """A cursor, or all of them."""

    name: str | None


@dataclass(frozen=True)
class Transaction:
    """`to`: the state it leads to; `savepoint` leaves a failed transaction as it was before."""

    tag: str
    to: str  # begin, commit, rollback, savepoint, nothing


@dataclass(frozen=True)
class SetTo:
    """A setting; `value` None: its default. `name` None: all of them."""

    tag: str
    name: str | None
    value: str | None = None
    local: bool = False


@dataclass(frozen=True)
class Show:
    name: str


@dataclass(frozen=True)
class Forget:
    """Prepared statements: DEALLOCATE of one or all, DISCARD ALL."""

    tag: str
    name: str | None = None
    everything: bool = False


@dataclass(frozen=True)
class Nothing:
    """Accepted, and without any effect."""

    tag: str


@dataclass(frozen=True)
class Wrong:
    """Begins like something understood here, and goes on otherwise."""

    message: str
    hint: str
    sqlstate: str = "42601"


Command = Question | Explain | Copy | Declare | Fetch | Close | Transaction | SetTo | Show | Forget | Nothing | Wrong

_FIRST = re.compile(r"(?:\s+|--[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+([A-Za-z]+)")
SAME_NAMES = {
    "time zone": "timezone", "names": "client_encoding", "transaction isolation level": "transaction_isolation",
}  # fmt: skip


class _Words:
    """The words of a statement one after the other, without what is skipped."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._all: list[Token] = [t for t in tokens(text) if t.kind != "skip"]

    def said(self, ahead: int = 0) -> str:
        """The next word in small letters; empty at the end."""
        place = self.at + ahead
        if place >= len(self._all):
            return ""
        token = self._all[place]
        return self.text[token.start : token.end].lower()

    def take(self, *words: str) -> bool:
        """Whether these words come next; then they are behind us."""
        if any(self.said(i) != w for i, w in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def name(self) -> str | None:
        """A name, as PostgreSQL reads it."""
        if self.at >= len(self._all):
            return None
        token = self._all[self.at]
        said = self.text[token.start : token.end]
        if token.kind == "word":
            self.at += 1
            return said.lower()
        if token.kind == "quote" and said[0] == '"':
            self.at += 1
            return said[1:-1].replace('""', '"')
        return None

    def dotted(self) -> str | None:
        found = self.name()
        while found is not None and self.said() == ".":
            self.at += 1
            more = self.name()
            found = None if more is None else f"{found}.{more}"
        return found

    def rest(self) -> Question:
        """Everything from here."""
        start = self._all[self.at].start if self.at < len(self._all) else len(self.text)
        return Question(self.text[start:], start)

    def bracketed(self) -> Question | None:
        """What stands in the brackets that open here."""
        if not self.take("("):
            return None
        first, depth = self.at, 1
        while self.at < len(self._all):
            depth += {"(": 1, ")": -1}.get(self.said(), 0)
            self.at += 1
            if not depth:
                start = self._all[first].start
                return Question(self.text[start : self._all[self.at - 1].start].rstrip(), start)
        return None

    @property
    def over(self) -> bool:
        return self.at >= len(self._all)


def command_of(part: Part | str) -> Command:
    text = part if isinstance(part, str) else part.text
    found = _FIRST.match(text)
    reader = _READERS.get(found[1].lower()) if found else None
    if reader is None:
        return Question(text)
    words = _Words(text)
    words.at = 1
    return reader(words) or Question(text)


def _start(words: _Words) -> Command | None:
    return Transaction("START TRANSACTION", "begin") if words.take("transaction") else None


def _rollback(words: _Words) -> Command | None:
    words.take("work") or words.take("transaction")
    return Transaction("ROLLBACK", "savepoint" if words.take("to") else "rollback")


def _set(words: _Words) -> Command | None:
    if words.take("session", "characteristics") or words.take("transaction"):
        return Nothing("SET")
    local = words.take("local")
    words.take("session")
    if words.take("time", "zone"):
        name: str | None = "timezone"
    elif words.take("names"):
        name = "client_encoding"
    else:
        name = words.dotted()
        if name is None or not (words.take("=") or words.take("to")):
            return None
    if words.said() in ("default", "") and (words.said(1) == ""):
        return SetTo("SET", name, None, local=local)
    values = [_unquoted(part) for part in _listed(words.rest().text)]
    return SetTo("SET", name, ", ".join(values), local=local)


def _listed(text: str) -> list[str]:
    """The parts between commas that stand outside of quotes."""
    parts, start = list[str](), 0
    for token in tokens(text):
        if token.kind == "other" and text[token.start] == ",":
            parts.append(text[start : token.start].strip())
            start = token.end
    return [*parts, text[start:].strip()]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


def _reset(words: _Words) -> Command | None:
    if words.take("all"):
        return SetTo("RESET", None)
    name = words.dotted()
    return None if name is None else SetTo("RESET", name)


def _show(words: _Words) -> Command | None:
    for written, name in SAME_NAMES.items():
        if words.take(*written.split()) and words.over:
            return Show(name)
    if words.said() in ("tables", "columns", "all"):
        return None  # of the gateway
    shown = words.dotted()
    return Show(shown) if shown is not None and words.over else None


def _discard(words: _Words) -> Command | None:
    what = words.name() or ""
    return Forget("DISCARD ALL", everything=True) if what == "all" else Nothing(f"DISCARD {what.upper()}")


def _deallocate(words: _Words) -> Command | None:
    words.take("prepare")
    if words.take("all"):
        return Forget("DEALLOCATE ALL")
    name = words.name()
    return None if name is None else Forget("DEALLOCATE", name)


def _declare(words: _Words) -> Command | None:
    name, binary = words.name(), False
    while words.said() in ("binary", "insensitive", "asensitive", "scroll", "no"):
        binary |= words.said() == "binary"
        words.at += 1
    if name is None or not words.take("cursor"):
        return None
    words.take("with", "hold") or words.take("without", "hold")
    return Declare(name, words.rest(), binary) if words.take("for") else None


def _fetch(words: _Words, *, move: bool = False) -> Command | None:
    number, forward = 1, words.take("forward")
    if words.take("all"):
        number = MOST_FETCHED
    elif words.said().isdecimal():
        number = min(int(words.said()[:10]), MOST_FETCHED)
        words.at += 1
    elif words.said() in ("backward", "prior", "first", "last", "absolute", "relative", "-"):
        return Wrong("Cursors go forward only.", "FETCH 100 FROM c, or FETCH ALL FROM c.", "0A000")
    elif not forward:
        words.take("next")
    words.take("from") or words.take("in")
    name = words.name()
    return None if name is None else Fetch(name, number, move)


def _move(words: _Words) -> Command | None:
    return _fetch(words, move=True)


def _close(words: _Words) -> Command | None:
    return Close(None if words.said() == "all" else words.name())


def _explain(words: _Words) -> Command | None:
    as_json = False
    if words.said() == "(" and words.said(1) in (
        "format",
        "analyze",
        "verbose",
        "costs",
        "buffers",
        "settings",
        "timing",
    ):
        options = words.bracketed()
        said = "" if options is None else options.text.lower()
        as_json = "json" in said
        if re.search(r"\banalyze\b(?!\s+(?:false|off))", said):
            return _ANALYZE
    while words.said() in ("analyze", "analyse", "verbose"):
        if words.said() != "verbose":
            return _ANALYZE
        words.at += 1
    return Explain(words.rest(), as_json)


_ANALYZE = Wrong("EXPLAIN ANALYZE would ask the question.", "EXPLAIN says price and error bars, free.", "0A000")


def _copy(words: _Words) -> Command | None:
    inner = words.bracketed()
    if inner is None:
        table = words.rest()
        name = words.dotted()
        if name is None:
            return None
        shown = table.text[: words.rest().start - table.start].strip()
        inner = Question(f"SELECT * FROM {shown}", table.start)  # noqa: S608 (refused with the reason)
    if not words.take("to", "stdout"):
        return Wrong("Nothing can be written here.", "COPY (SELECT …) TO STDOUT", "0A000")
    try:
        return Copy(inner, spec_of(words.rest().text))
    except Unknown as error:
        return Wrong(error.args[0], "Formats: text, csv, binary. COPY (SELECT …) TO STDOUT (FORMAT csv, HEADER)")


def _only(command: Command) -> Callable[[_Words], Command | None]:
    return lambda _: command


_READERS: dict[str, Callable[[_Words], Command | None]] = {
    "begin": _only(Transaction("BEGIN", "begin")),
    "start": _start,
    "commit": _only(Transaction("COMMIT", "commit")),
    "end": _only(Transaction("COMMIT", "commit")),
    "rollback": _rollback,
    "abort": _rollback,
    "savepoint": _only(Nothing("SAVEPOINT")),
    "release": _only(Nothing("RELEASE")),
    "listen": _only(Nothing("LISTEN")),
    "unlisten": _only(Nothing("UNLISTEN")),
    "set": _set,
    "reset": _reset,
    "show": _show,
    "discard": _discard,
    "deallocate": _deallocate,
    "declare": _declare,
    "fetch": _fetch,
    "move": _move,
    "close": _close,
    "explain": _explain,
    "copy": _copy,
}
