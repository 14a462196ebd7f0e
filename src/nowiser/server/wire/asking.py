"""Questions of one session: to the catalogue, to the gateway, or explained; and what is said beside the rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Protocol

from rich.console import Console

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.percent import percent
from nowiser.report import failure
from nowiser.report.answer import Answer, bar_of, binding_first, points_used
from nowiser.report.printed import print_explanation
from nowiser.report.shown import free_words
from nowiser.server.desk import Desk
from nowiser.server.problems import LoggedOut
from nowiser.server.seat import Seat
from nowiser.server.wire.failures import Failure
from nowiser.server.wire.options import Options
from nowiser.server.wire.protocol import values as v
from nowiser.server.wire.words import every_text, in_settings
from nowiser.sql.read.bi import setting
from nowiser.sql.read.text.parameters import filled

NUMBERS = ("integer", "real")
EXPLAINED = "QUERY PLAN"
WIDE = 110


@dataclass(frozen=True)
class Asked:
    """A question. `values`: of $1, $2, …; None: there are none, or they are not known yet."""

    text: str
    values: tuple[Any, ...] | None = None

    @property
    def filled(self) -> str:
        """With its values written out, for the catalogue."""
        return filled(self.text, self.values) if self.values else self.text


@dataclass(frozen=True)
class Column:
    name: str
    oid: int


@dataclass(frozen=True)
class Result:
    """`columns` None: a statement that gives no rows."""

    columns: tuple[Column, ...] | None
    rows: Sequence[Sequence[Any]] = ()
    notices: tuple[str, ...] = ()


class Found(Protocol):
    """Rows of the catalogue."""

    @property
    def columns(self) -> Sequence[tuple[str, int]]: ...
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


class Catalogue(Protocol):
    """What clients ask about tables and types; blocking. None: not a statement of the catalogue."""

    def answer(self, seat: Seat, sql: str, settings: Mapping[str, str]) -> Found | None: ...
    def passes_on(self, account: str, sql: str, settings: Mapping[str, str]) -> bool: ...
    def describe(self, seat: Seat, sql: str) -> Sequence[tuple[str, int]] | None: ...


class Asker:
    """One account's, logged in with one token. The account is read again for every question."""

    def __init__(self, desk: Desk, account: str, token: str, catalogue: Catalogue | None = None) -> None:
        self.account, self._token, self._desk, self._catalogue = account, token, desk, catalogue

    async def answered(self, asked: Asked, options: Options) -> Result:
        """The rows of a question. Raises Failure and what the gateway raises."""
        text, wish = asked.filled, options.wish
        if (constant := _ping(text)) is not None:
            return constant
        settings = options.every()
        if self._catalogue is not None and not self._catalogue.passes_on(self.account, text, settings):
            seat, found = await self._desk.weighed(self.account, self._looked_up, text, settings)
            if seat is None:
                raise _gone()
            if found is not None:
                return Result(tuple(Column(*c) for c in found.columns), found.rows)
        try:
            answer = await self._desk.answered(
                self._present, asked.text, who=self.account, parameters=asked.values, **wish
            )
        except LoggedOut:
            raise _gone() from None
        return _result(answer, options)

    async def typed(self, text: str, oids: Sequence[int]) -> tuple[int, ...]:
        """Types of parameters. Where nobody says them (0), that of what they stand beside; else text."""
        kinds = await self._desk.weighed(self.account, self._kinds, text)
        beside = [v.TEXT if kind is None else v.KINDS[kind.value] for kind in kinds[: len(oids)]]
        beside += [v.TEXT] * (len(oids) - len(beside))
        return tuple(oid or found for oid, found in zip(oids, beside, strict=True))

    async def described(self, asked: Asked, options: Options) -> tuple[Column, ...]:
        """The columns a question will have. Nothing is charged."""
        text = asked.filled
        if (constant := _ping(text)) is not None:
            assert constant.columns is not None
            return constant.columns
        found = await self._desk.weighed(self.account, self._columns, asked, options.bars)
        if found is None:
            raise _gone()
        return found

    async def explained(self, asked: Asked, options: Options, *, as_json: bool) -> Result:
        """What a question would cost, as rows of text."""
        wish = {name: value for name, value in options.wish.items() if name not in ("anyway", "clipped")}
        answer = await self._desk.weighed(self.account, self._explained, asked, wish)
        if answer is None:
            raise _gone()
        if as_json:
            return Result((Column(EXPLAINED, v.TEXT),), [(json.dumps(every_text(json.loads(answer.to_json()))),)])
        out = StringIO()
        print_explanation(answer, Console(file=out, width=WIDE, highlight=False, color_system=None))
        lines = out.getvalue().rstrip().split("\n")
        return Result((Column(EXPLAINED, v.TEXT),), [(in_settings(line.rstrip()),) for line in lines])

    def record(self, error: Exception) -> None:
        """Where a fault of ours stopped, for the server's log."""
        failure.record(self._desk.folder, error, "on the wire")

    # -- in threads ------------------------------------------------------------------------------------------------

    def _seat(self) -> Seat | None:
        account = self._desk.register.find(self.account)
        if account is None or all(token.id != self._token for token in account.tokens):
            return None
        return self._desk.seat(account)

    def _present(self) -> Seat:
        seat = self._seat()
        if seat is None:
            raise LoggedOut
        return seat

    def _looked_up(self, text: str, settings: Mapping[str, str]) -> tuple[Seat | None, Found | None]:
        seat = self._seat()
        if seat is None or self._catalogue is None:
            return seat, None
        return seat, self._catalogue.answer(seat, text, settings)

    def _kinds(self, text: str) -> tuple[Kind | None, ...]:
        seat = self._seat()
        try:
            return () if seat is None else seat.parameters(text)
        except NotAnswerable:  # of the catalogue; or its description says why
            return ()

    def _columns(self, asked: Asked, bars: bool) -> tuple[Column, ...] | None:
        seat = self._seat()
        if seat is None:
            return None
        found = None if self._catalogue is None else self._catalogue.describe(seat, asked.filled)
        if found is not None:
            return tuple(Column(*c) for c in found)
        described = seat.describe(asked.text, asked.values)
        exact = seat.explain(asked.text, parameters=asked.values).exact if bars else ()
        names = [(d.name, d.kind.value) for d in described]
        return _columns_of(names, exact if bars else None)

    def _explained(self, asked: Asked, wish: Mapping[str, Any]) -> Answer | None:
        seat = self._seat()
        return None if seat is None else seat.explain(asked.text, parameters=asked.values, **wish)


def _gone() -> Failure:
    return Failure("28000", "This account was switched off, or its token was dropped.", fatal=True)


def _ping(text: str) -> Result | None:
    """SELECT 1 and SELECT version(): whether anybody is there."""
    found = setting(text)
    if found is None or not found.rows:
        return None
    (value,) = found.rows[0]
    if isinstance(value, str) and "version" not in text.lower():
        return None  # depends on the session
    return Result((Column(found.columns[0], v.INT4 if isinstance(value, int) else v.TEXT),), found.rows)


def _columns_of(names: Sequence[tuple[str, str]], exact: Sequence[str] | None) -> tuple[Column, ...]:
    """With a column for the error bar after each noisy number, where the exact ones are said."""
    found = list[Column]()
    for name, kind in names:
        found.append(Column(name, v.KINDS[kind]))
        if exact is not None and kind in NUMBERS and name not in exact:
            found.append(Column(f"{name}_error", v.FLOAT8))
    return tuple(found)


def _result(answer: Answer, options: Options) -> Result:
    rows: Sequence[Sequence[Any]] = answer.rows or ()
    kinds = answer.kinds or _kinds(rows, len(answer.columns))
    columns = _columns_of(tuple(zip(answer.columns, kinds, strict=True)), answer.exact if options.bars else None)
    if options.bars:
        barred = [k in NUMBERS and n not in answer.exact for n, k in zip(answer.columns, kinds, strict=True)]
        rows = [
            [w for value, bar, b in zip(row, bars, barred, strict=True) for w in ((value, bar) if b else (value,))]
            for row, bars in zip(rows, answer.errors(), strict=True)
        ]
    return Result(columns, rows, _notices(answer) if options.notices and answer.kinds else ())


def _kinds(rows: Sequence[Sequence[Any]], number: int) -> tuple[str, ...]:
    """Of constants, such as what DESCRIBE gives."""
    kinds = {int: "integer", bool: "boolean"}
    first = rows[0] if rows else [None] * number
    return tuple(kinds.get(type(value), "text") for value in first)


def _notices(answer: Answer) -> tuple[str, ...]:
    """The error bars, what was used, and what was not said before."""
    bars = [
        f"{name} ± {said}"
        for i, (name, bar) in enumerate(zip(answer.columns, answer.error, strict=True))
        if (said := _bar(bar, answer.kind_of(i)))
    ]
    found = [f"{', '.join(bars)} (95 % error bars)"] if bars else []
    left = f"{percent(answer.left)} of the allowance is left"
    if answer.stored:
        found.append(f"The stored answer, again, free; {left}.")
    elif not answer.cost:
        found.append(free_words(answer))
    else:
        binding = "".join(f" {g['guess']}: {points_used(g)}." for g in binding_first(answer.guesses)[:1])
        found.append(f"{left[0].upper()}{left[1:]}.{binding}")
    return (*found, *(f"Note: {in_settings(note)}" for note in answer.news))


def _bar(bar: Any, kind: str) -> str:
    if not isinstance(bar, list):
        return bar_of(bar, kind) if bar else ""
    known = [b for b in bar if b is not None]
    if not any(known):
        return ""
    low, high = bar_of(min(known), kind), bar_of(max(known), kind)
    return low if low == high else f"{low} to {high}"
