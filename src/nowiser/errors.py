"""Every way nowiser says no.

    NowiserError
    ├── Refused               somebody can fix it: the message says what was wrong, where, what would be right
    │   ├── NotAnswerable     2  the question or recipe is outside what can be answered (syntax, policy)
    │   │   └── Useless       2  the answer would tell next to nothing for its price; anyway=True asks all the same
    │   ├── Misconfigured     3  an argument, a policy or an input file is wrong
    │   ├── Exhausted         4  the allowance is used up
    │   └── NotAuthorised     5  this analyst may not ask this
    └── Fault                 our bug, or a broken engine or ledger
        ├── Unreachable       6  an engine (or a ledger's database) cannot be reached
        ├── NotEvaluated      7  the question could not be evaluated; one neutral message, the charge stays
        └── LedgerBroken      8  the ledger does not verify

The number is the exit code of the command line. No message ever contains a value from the data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

WINDOW = 80  # characters shown before a place in a long line; twice as many after


@dataclass(frozen=True)
class Span:
    """Where in a text something stands: zero-based offsets of its first character and past its last."""

    text: str
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        return self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1

    def underlined(self) -> str:
        """The line with the place marked below it; of a long line, the part around the place."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = last if last >= 0 else len(self.text)
        left, right = max(first, self.start - WINDOW), min(last, self.start + 2 * WINDOW)
        before = "…" if left > first else ""
        shown = f"{before}{self.text[left:right]}{'…' if right < last else ''}"
        width = max(1, min(self.end, right) - self.start)
        return f"{shown}\n{' ' * (len(before) + self.start - left)}{'^' * width}"


class NowiserError(Exception):
    """What went wrong, where, and what would be right."""

    exit_code: ClassVar[int] = 7
    kind: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None, span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.span = span

    def __str__(self) -> str:
        parts = [self.message]
        if self.span is not None:
            parts.append(self.span.underlined())
        if self.hint is not None:
            parts.append(self.hint)
        return "\n".join(parts)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows (IPython asks for it): what, where, what would be right; no traceback of our code."""
        return f"{type(self).__name__}: {self}".split("\n")

    def to_json(self) -> dict[str, Any]:
        """The `error` object that every command prints under --json."""
        where = None
        if self.span is not None:
            where = {
                "line": self.span.line,
                "column": self.span.column,
                "length": self.span.end - self.span.start,
            }
        return {
            "kind": self.kind,
            "message": self.message,
            "hint": self.hint,
            "where": where,
            "exit": self.exit_code,
        }


class Refused(NowiserError):
    """The user can fix it."""


class NotAnswerable(Refused):
    """The question or recipe is outside what can be answered. Nothing was charged.

    reason: `syntax`, `no column` or `no table` where it is one of these, for surfaces that tell them apart.
    """

    exit_code = 2
    kind = "refused"

    def __init__(
        self, message: str, *, hint: str | None = None, span: Span | None = None, reason: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, span=span)
        self.reason = reason or self.kind


class Useless(NotAnswerable):
    """The error bars would be so wide that the answer is not worth its price. Nothing was charged.

    figures: for each noisy column `column`, `error` (the 95 % half-width), `of` (the width of its range, or the size
    expected), `share` (error/of), `groups`, `useless` (of how many groups).
    levers: what would give narrower bars, each with `what`, `who` (analyst or custodian), `error`, `share`, `useful`,
    `ask` (arguments of `query`). They, `binding` (the attacker who limits the precision) and the hint are worked out
    when somebody looks at them.
    `anyway=True` asks the question all the same.
    """

    kind = "useless"

    def __init__(
        self,
        message: str,
        *,
        figures: Sequence[Mapping[str, Any]] = (),
        advice: Callable[[], "Advice"] | None = None,
        hint: str | None = None,
        span: Span | None = None,
    ) -> None:
        super().__init__(message, hint=hint, span=span)
        self.figures = [dict(f) for f in figures]
        self._advice = advice

    @cached_property
    def _told(self) -> "Advice":
        return self._advice() if self._advice is not None else Advice()

    @property
    def binding(self) -> str | None:
        return self._told.binding

    @property
    def levers(self) -> list[dict[str, Any]]:
        return [dict(lever) for lever in self._told.levers]

    @property
    def hint(self) -> str | None:
        return self._hint or self._told.hint

    @hint.setter
    def hint(self, said: str | None) -> None:
        self._hint = said

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"figures": self.figures, "binding": self.binding, "levers": self.levers}


@dataclass(frozen=True)
class Advice:
    """What would make an answer useful."""

    hint: str | None = None
    binding: str | None = None
    levers: tuple[Mapping[str, Any], ...] = ()


class Misconfigured(Refused):
    """An argument, a policy or an input file is wrong."""

    exit_code = 3
    kind = "misconfigured"


class Exhausted(Refused):
    """The allowance does not cover the question. Nothing was charged.

    needed: the share of the whole allowance the question would use (above 1: more than there ever was).
    left: the share that is left, for this analyst where the policy gives her a share of her own.
    ask: arguments with which it would be admitted, as in `gw.query(sql, **refusal.ask)`; empty where there are none.
    Both shares are None where they are not known.
    """

    exit_code = 4
    kind = "exhausted"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        span: Span | None = None,
        needed: float | None = None,
        left: float | None = None,
        ask: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, span=span)
        self.needed = needed
        self.left = left
        self.ask = dict(ask or {})

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"needed": self.needed, "left": self.left, "ask": self.ask}


class NotAuthorised(Refused):
    """The analyst may not ask this."""

    exit_code = 5
    kind = "not authorised"


class Fault(NowiserError):
    """Our bug, or a broken engine or ledger."""


class Unreachable(Fault):
    """An engine, or the database of a ledger, cannot be reached."""

    exit_code = 6
    kind = "unreachable"


class NotEvaluated(Fault):
    """The question could not be evaluated. One neutral message; the charge stays."""

    exit_code = 7
    kind = "not evaluated"


class LedgerBroken(Fault):
    """The ledger does not verify."""

    exit_code = 8
    kind = "ledger broken"
