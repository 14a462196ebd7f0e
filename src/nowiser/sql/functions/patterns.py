r"""Regular expressions from a subset that means the same on every engine and takes time linear in the text.

    literals, `.`, classes `[a-z0-9_]` and `[^…]`, `\d \w \s`, groups, `|`, anchors `^` and `$`,
    and `* + ? {m} {m,} {m,n}` after anything that holds no repetition or choice itself

A pattern is read into a small tree and printed anew, so no engine sees what the analyst wrote. Left out, with the
reason: back-references and look-around (they need backtracking), repetitions of repetitions (`(a+)+` takes time
exponential in the text on engines that backtrack, and a text can be a secret), lazy repetition (it changes nothing
about whether a text matches), and classes by name or alphabet (engines disagree about letters).
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, want
from nowiser.sql.tree import Type

LONGEST, MOST_REPEATS, MOST_COUNT = 500, 8, 255
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r\\f\\v"}
_SPACES = " \t\n\r\f\v"
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_SPECIAL = set("\\^$.|?*+()[]{}")


@dataclass
class _Reader:
    """Recursive descent over one pattern; every method returns what is printed for the part it read."""

    text: str
    insensitive: bool = False
    at: int = 0
    repeats: int = 0
    weight: int = 0
    out: list[str] = field(default_factory=list)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        c = self.peek()
        if not c:
            raise Mismatch("ends in the middle of something")
        self.at += 1
        return c

    def choice(self) -> tuple[str, bool]:
        """Branches and whether they hold a repetition or a choice."""
        branch, complex_ = self.branch()
        branches = [branch]
        while self.peek() == "|":
            self.take()
            branch, _ = self.branch()
            branches.append(branch)
            complex_ = True
        if any(not b for b in branches):
            raise Mismatch("has an empty branch")
        return "|".join(branches), complex_

    def branch(self) -> tuple[str, bool]:
        out, complex_ = [], False
        while self.peek() and self.peek() not in "|)":
            part, inner = self.piece()
            out.append(part)
            complex_ |= inner
        return "".join(out), complex_

    def piece(self) -> tuple[str, bool]:
        if self.peek() in ("^", "$"):
            anchor = self.take()
            if self.peek() in ("*", "+", "?", "{"):
                raise Mismatch("repeats an anchor")
            return anchor, False
        before = self.weight
        atom, complex_ = self.atom()
        if self.peek() not in ("*", "+", "?", "{") or not self.peek():
            return atom, complex_
        if complex_:
            raise Mismatch("repeats something that holds a repetition or a choice", "Write (a|b)* as [ab]*")
        low, high = self.bounds()
        if self.peek() in ("*", "+", "?", "{") and self.peek():
            raise Mismatch("repeats a repetition, or uses a lazy one", "Leave out the second sign")
        self.repeats += 1
        self.weight = before + (self.weight - before) * max(1, high if high is not None else low)
        if self.repeats > MOST_REPEATS or self.weight > 2000:
            raise Mismatch("repeats too much", f"At most {MOST_REPEATS} repetitions of moderate counts")
        if high is None:
            return atom + ("*" if low == 0 else "+" if low == 1 else f"{{{low},}}"), True
        return atom + ("?" if (low, high) == (0, 1) else f"{{{low},{high}}}"), True

    def bounds(self) -> tuple[int, int | None]:
        sign = self.take()
        if sign != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        found = re.compile(r"([0-9]{1,3})(,?)([0-9]{0,3})\}", re.ASCII).match(self.text, self.at)
        if found is None:
            raise Mismatch("has { without a count behind it", "Write \\{ for the sign itself")
        self.at = found.end()
        low = int(found[1])
        high = int(found[3]) if found[3] else None if found[2] else low
        if max(low, high or 0) > MOST_COUNT or (high is not None and high < low):
            raise Mismatch(f"has a count that is not between 0 and {MOST_COUNT}")
        return low, high

    def atom(self) -> tuple[str, bool]:
        self.weight += 1
        c = self.take()
        match c:
            case "(":
                if self.text.startswith("?:", self.at):
                    self.at += 2
                elif self.peek() == "?":
                    raise Mismatch("looks around or sets options", "Plain groups (…) are answered")
                inner, complex_ = self.choice()
                if self.take() != ")":
                    raise Mismatch("has an open bracket")
                if "^" in inner.replace("\\^", "").replace("[^", "") or "$" in inner.replace("\\$", ""):
                    raise Mismatch("has an anchor inside a group", "Anchors go at the beginning and the end")
                return f"(?:{inner})", complex_
            case "[":
                return self.members(), False
            case ".":
                return ".", False
            case "\\":
                return self.escaped(), False
            case _ if c in "*+?{})]":
                raise Mismatch(f"has {c} where nothing can be repeated or closed", f"Write \\{c} for the sign itself")
        return self.letter(c), False

    def letter(self, c: str) -> str:
        if c == "\0":
            raise Mismatch("has a character no text can hold")
        if self.insensitive and c.isascii() and c.isalpha():
            return f"[{c.upper()}{c.lower()}]"
        return f"\\{c}" if c in _SPECIAL else c

    def escaped(self) -> str:
        c = self.take()
        if c in _CLASSES:
            return f"[{_members(c)}]"
        if c.lower() in _CLASSES:
            return f"[^{_members(c.lower())}]"
        if c in _CONTROL:
            return _CONTROL[c]
        if c.isalnum():
            raise Mismatch(
                f"uses \\{c}, which engines read differently", "\\d, \\w, \\s and \\ before signs are answered"
            )
        return self.letter(c)

    def members(self) -> str:
        inverse = self.peek() == "^"
        if inverse:
            self.take()
        found: list[str] = []
        dash = False
        first = True
        while self.peek() != "]" or first:
            first = False
            c = self.take()
            if c == "\\":
                e = self.take()
                if e in _CLASSES:
                    found.append(_members(e))
                    continue
                if e.isalnum() and e not in _CONTROL:
                    raise Mismatch(f"uses \\{e} in a class")
                c = _CONTROL.get(e, e)
            elif c == "[":
                raise Mismatch("names a class inside a class", "List the characters, as in [a-z0-9]")
            if c == "-":
                dash = True
                continue
            if c in "]\\^[":
                raise Mismatch(f"has {c} in a class", "Use (a|b) for signs that are special in classes")
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.take()
                last = self.take()
                if not (c.isalnum() and last.isalnum() and c.isascii() and last.isascii() and c < last):
                    raise Mismatch("has a range that is not of letters a to z or digits")
                found += self.cased(c, last)
            else:
                found += self.cased(c, c)
        self.take()
        if not found and not dash:
            raise Mismatch("has an empty class")
        return f"[{'^' if inverse else ''}{''.join(found)}{'-' if dash else ''}]"

    def cased(self, low: str, high: str) -> list[str]:
        spelled = low if low == high else f"{low}-{high}"
        if not self.insensitive or not (low.isalpha() and high.isalpha() and low.isascii() and high.isascii()):
            return [spelled]
        return list(dict.fromkeys([spelled.lower(), spelled.upper()]))


def _members(name: str) -> str:
    return _SPACES if name == "s" else _CLASSES[name]


def regular(pattern: str, *, insensitive: bool = False) -> str:
    """The pattern as every engine reads it. Raises Mismatch."""
    if len(pattern) > LONGEST:
        raise Mismatch(f"is longer than {LONGEST} characters")
    reader = _Reader(pattern, insensitive)
    found, _ = reader.choice() if pattern else ("", False)
    if reader.at < len(pattern):
        raise Mismatch("has a closing bracket too many")
    return found


def similar(pattern: str) -> str:
    """SIMILAR TO as a regular expression: `%` and `_` are wildcards, the whole text must match."""
    out, literal = [], False
    for c in pattern:
        if literal:
            out.append(f"\\{c}" if not c.isalnum() else c)
            literal = False
        elif c == "\\":
            literal = True
        else:
            out.append({"%": ".*", "_": ".", ".": "\\.", "^": "\\^", "$": "\\$"}.get(c, c))
    if literal:
        raise Mismatch("ends in a backslash with nothing after it")
    inner = regular("".join(out))
    return f"^(?:{inner})$"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Python's $ also matches before a last newline, and its anchors bind to branches as everywhere else.
    return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern), re.DOTALL | re.ASCII)


def _typing(types: Types) -> Type:
    count(types, 2)
    want(types, Kind.TEXT)
    return Type(Kind.BOOLEAN, nullable(types))


FUNCTIONS = (
    Function(
        "matches",
        _typing,
        lambda text, pattern: _compiled(pattern).search(text) is not None,
        "regexp_matches({0}, {1}, 's')",
        engines={"postgres": "({0} ~ {1})"},
    ),
)
