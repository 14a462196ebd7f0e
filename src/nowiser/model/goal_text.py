"""The text form of goals: a tokenizer and a recursive descent parser of one page.

goal      :=  both ("or" both)*
both      :=  one ("and" one)*
one       :=  "not" one  |  "(" goal ")"  |  "present" ["in" name]  |  [names] want
names     :=  name  |  "(" name ("," name)+ ")"
name      :=  word ("." word)*                     a word may be "quoted"
want      :=  "within" number  |  "exactly"  |  "in" list  |  "between" number "and" number
list      :=  "[" number "," number "]"            an interval, both ends included
          |   "{" value ("," value)* "}"           a set
          |   "[" value ("," value)* "]"           a set, unless it is two numbers
value     :=  number  |  word+  |  'quoted'  |  "quoted"
"""

import re
from dataclasses import dataclass

from nowiser.errors import Misconfigured, Span
from nowiser.model.goal_kinds import KEYWORDS, And, Exactly, Goal, In, Not, On, Or, Present, Value, Within, joined

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*')
      | (?P<word>[^\W\d]\w*)
      | (?P<mark>[()\[\]{},.])""",
    re.VERBOSE,
)
MAX_LENGTH = 10_000
MAX_DEPTH = 50


@dataclass(frozen=True)
class Token:
    kind: str  # number, quoted, word, mark, end
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.text in marks


def parse_goal(text: str) -> Goal:
    """The goal a text states (`visits.time within 2 and visits.dish exactly`).

    Raises Misconfigured with a span that points at the offending character.
    """
    if not isinstance(text, str):
        raise Misconfigured(f"a goal is a text like `visits.time within 2`, found {text!r}")
    if len(text) > MAX_LENGTH:
        raise Misconfigured(f"a goal may be at most {MAX_LENGTH} characters long, found {len(text)}")
    reader = _Reader(text)
    goal = reader.goal(0)
    if reader.now.kind != "end":
        raise reader.wrong("expected `and`, `or` or the end of the goal")
    return goal


def _tokens(text: str) -> list[Token]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Misconfigured(
                f"a goal cannot contain the character {text[at]!r}", span=Span(text, at, at + 1), hint=_HINT
            )
        if match.lastgroup != "space":
            found.append(Token(str(match.lastgroup), match.group(), at, match.end()))
        at = match.end()
    return [*found, Token("end", "", len(text), len(text))]


_HINT = "A goal reads like: visits.time within 2 and not visits.dish in {soup, pasta}"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def wrong(self, message: str) -> Misconfigured:
        token = self.now
        found = "the end of the text" if token.kind == "end" else f"`{token.text}`"
        span = Span(self.text, token.start, max(token.end, token.start + 1))
        return Misconfigured(f"{message}, found {found}", span=span, hint=_HINT)

    def expect(self, mark: str) -> None:
        if not self.now.is_mark(mark):
            raise self.wrong(f"expected `{mark}`")
        self.take()

    def goal(self, depth: int) -> Goal:
        if depth > MAX_DEPTH:
            raise self.wrong(f"a goal may be nested at most {MAX_DEPTH} deep")
        parts = [self.both(depth)]
        while self.now.is_word("or"):
            self.take()
            parts.append(self.both(depth))
        return joined(Or, parts)

    def both(self, depth: int) -> Goal:
        parts = [self.one(depth)]
        while self.now.is_word("and"):
            self.take()
            parts.append(self.one(depth))
        return joined(And, parts)

    def one(self, depth: int) -> Goal:
        if depth > MAX_DEPTH:
            raise self.wrong(f"a goal may be nested at most {MAX_DEPTH} deep")
        if self.now.is_word("not"):
            self.take()
            return Not(self.one(depth + 1))
        if self.now.is_word("present"):
            self.take()
            if not self.now.is_word("in"):
                return Present()
            self.take()
            return Present(self.name())
        if self.now.is_mark("(") and not self._is_list_of_names():
            self.take()
            inside = self.goal(depth + 1)
            self.expect(")")
            return inside
        names = self.names()
        start = self.at
        want = self.want()
        if not names:
            return want
        if len(names) > 1 and isinstance(want, In):
            self.at = start
            raise self.wrong("several attributes together are `within` or `exactly`; join others with `and`")
        if len(set(names)) != len(names):
            self.at = start
            raise self.wrong(f"the attributes {', '.join(names)} must differ")
        return On(names if len(names) > 1 else names[0], want)

    def _is_list_of_names(self) -> bool:
        """`( name ,` starts a point on a map; any other bracket holds a goal."""
        at = self.at + 1
        while self.tokens[at].kind in ("word", "quoted") or self.tokens[at].is_mark("."):
            if self.tokens[at].is_word(*KEYWORDS):
                return False
            at += 1
        return at > self.at + 1 and self.tokens[at].is_mark(",")

    def names(self) -> tuple[str, ...]:
        if self.now.is_mark("("):
            self.take()
            found = [self.name()]
            while self.now.is_mark(","):
                self.take()
                found.append(self.name())
            self.expect(")")
            return tuple(found)
        if self.now.is_word("within", "exactly", "in", "between"):
            return ()
        return (self.name(),)

    def name(self) -> str:
        words = [self.word()]
        while self.now.is_mark("."):
            self.take()
            words.append(self.word())
        return ".".join(words)

    def word(self) -> str:
        if self.now.kind == "quoted" and len(self.now.text) > 2:
            return _unquoted(self.take().text)
        if self.now.kind != "word" or self.now.is_word(*KEYWORDS):
            raise self.wrong("expected the name of an attribute, like visits.time")
        return self.take().text

    def want(self) -> Within | Exactly | In:
        token = self.now
        if token.is_word("within"):
            self.take()
            radius_at = self.at
            radius = self.number("`within`")
            if not radius > 0:
                self.at = radius_at
                raise self.wrong("the radius of `within` must be above 0")
            return Within(radius)
        if token.is_word("exactly"):
            self.take()
            return Exactly()
        if token.is_word("between"):
            self.take()
            start = self.at
            low = self.number("`between`")
            if not self.now.is_word("and"):
                raise self.wrong("expected `and` and the high end")
            self.take()
            return self._interval(low, self.number("`and`"), start)
        if token.is_word("in"):
            self.take()
            return self.members()
        raise self.wrong("expected `within`, `exactly` or `in`")

    def members(self) -> In:
        if not self.now.is_mark("[", "{"):
            raise self.wrong("expected a list like [10, 20] or {soup, pasta}")
        closing = "]" if self.take().text == "[" else "}"
        start = self.at
        if self.now.is_mark(closing):
            raise self.wrong("an empty list is never met; expected a value")
        found = [self.value()]
        while self.now.is_mark(","):
            self.take()
            found.append(self.value())
        self.expect(closing)
        low, high = found[0], found[-1]
        if closing == "]" and len(found) == 2 and isinstance(low, float) and isinstance(high, float):
            return self._interval(low, high, start)
        return In(frozenset(found))

    def _interval(self, low: float, high: float, start: int) -> In:
        if low > high:
            self.at = start
            raise self.wrong(f"the low end of an interval must not be above its high end {high:g}")
        return In.between(low, high)

    def number(self, after: str) -> float:
        if self.now.kind != "number":
            raise self.wrong(f"expected a number after {after}")
        value = float(self.now.text)
        if value in (float("inf"), float("-inf")):
            raise self.wrong("a number must be finite")
        self.take()
        return value

    def value(self) -> Value:
        if self.now.kind == "number":
            return self.number("the bracket")
        if self.now.kind == "quoted":
            return _unquoted(self.take().text)
        words = []
        while self.now.kind == "word":
            words.append(self.take().text)
        if not words:
            raise self.wrong("expected a value")
        if len(words) == 1 and words[0].lower() in ("true", "false"):
            return words[0].lower() == "true"
        return " ".join(words)


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])
