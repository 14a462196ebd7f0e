"""Asking: a question is explained while it is written, and answered with its error bars.

A page that is loaded again asks the same question again: the stored answer, free.
"""

import io
from base64 import b64encode
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from nowiser.errors import Misconfigured, NowiserError
from nowiser.report.answer import Answer, binding_first
from nowiser.report.custodian import policy_words
from nowiser.report.shown import BOUNDED, advice, bar_words
from nowiser.server.desk import Desk
from nowiser.server.http.sessions import current
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Anybody, TheDesk
from nowiser.server.pages.pictures import picture
from nowiser.server.people.account import Account
from nowiser.server.problems import LOGGED_OUT, problem_of
from nowiser.server.seat import Seat

router = APIRouter()
ROWS = 500  # of an answer on the page; the file has all
HISTORY = 30
Sql = Annotated[str, Form(max_length=100_000)]
Wish = Annotated[str, Form(max_length=40)]


@dataclass(frozen=True)
class Asked:
    """What stands in the form."""

    sql: str = ""
    spend: str = ""
    error: str = ""

    def wish(self) -> dict[str, Any]:
        """As `query` takes it. Raises Misconfigured where it is no number."""
        found: dict[str, Any] = {}
        if self.spend.strip():
            share = _number(self.spend.strip().removesuffix("%"))
            if share is None or not 0 < share <= 100:
                raise Misconfigured("What to spend is more than 0 % and at most 100 %.", hint="For example 5 %.")
            found["spend"] = f"{share}%"
        if self.error.strip():
            found["error"] = _number(self.error)
            if found["error"] is None:
                raise Misconfigured("The error bar is a number above 0.", hint="For example 1.5.")
        return found


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) and found > 0 else None


@router.get("/ask")
async def form(request: Request, desk: TheDesk, account: Anybody, entry: int = 0, table: str = "") -> Response:
    """Empty, or with an earlier question of one's own, or with a table's example."""
    return await shown(
        request, desk, account, await desk.weighed(account.name, _begun, desk.seat(account), entry, table)
    )


@router.post("/ask")
async def answered(
    request: Request,
    desk: TheDesk,
    *,
    what: Wish = "explain",
    sql: Sql = "",
    spend: Wish = "",
    error: Wish = "",
    use: Wish = "",
) -> Response:
    """Asks, explains, or (`anyway`) asks although it is hardly worth it; `use` explains at another price."""
    asked = Asked(sql.replace("\r\n", "\n"), use or spend, "" if use else error)
    account = current(request)
    if account is None:  # the session has ended: the question comes back after logging in
        kept: dict[str, Any] = {"following": "/ask", "draft": asked.sql, "empty": False}
        return drawing.page(request, "login.html", status=401, wrong=None, **kept)
    seat = desk.seat(account)
    try:
        if what == "explain":
            return await shown(request, desk, account, asked, explained=await _explained(desk, seat, asked))
        answer = await desk.answered(seat, asked.sql, anyway=what == "anyway", **asked.wish())
    except NowiserError as failure:
        return await shown(request, desk, account, asked, failure=failure)
    return await shown(request, desk, account, asked, answer=await desk.quickly(_told, answer))


@router.post("/ask/explain")
async def live(request: Request, desk: TheDesk, *, sql: Sql = "", spend: Wish = "", error: Wish = "") -> Response:
    """What the question would cost: the part of the page that changes while one writes."""
    account = current(request)
    if account is None:
        return HTMLResponse(drawing.fragment("_logged_out.html"), status_code=LOGGED_OUT.status)
    asked = Asked(sql.replace("\r\n", "\n"), spend, error)
    told: dict[str, Any] = {"explained": None, "failed": None}
    if asked.sql.strip():
        try:
            told["explained"] = await _explained(desk, desk.seat(account), asked)
        except NowiserError as failure:
            told["failed"] = drawing.failed(failure)
    return HTMLResponse(drawing.fragment("_explained.html", **told))


async def shown(
    request: Request,
    desk: Desk,
    account: Account,
    asked: Asked,
    *,
    answer: dict[str, Any] | None = None,
    explained: dict[str, Any] | None = None,
    failure: NowiserError | None = None,
    csrf: str | None = None,
) -> HTMLResponse:
    """The page, with what came of the question."""
    seat = desk.seat(account)
    beside = await desk.weighed(account.name, _beside, seat)
    return drawing.page(
        request,
        "ask.html",
        status=200 if failure is None else problem_of(failure).status,
        account=account,
        csrf=csrf,
        asked=asked,
        answer=answer,
        explained=explained,
        failed=None if failure is None else drawing.failed(failure),
        asks=account.role.asks,
        **beside,
    )


def _begun(seat: Seat, entry: int, table: str) -> Asked:
    if entry:
        return Asked(next((ln.what for ln in seat.history() if ln.seq == entry and ln.kind == "question"), ""))
    tables = seat.tables()
    return Asked(tables[table].example if table in tables else "")


def _beside(seat: Seat) -> dict[str, Any]:
    """What stands beside the box: what is left, which tables there are, what was asked."""
    policy = seat.gate.policy
    mine = [ln for ln in seat.history() if ln.kind == "question" and ln.who == seat.account.name]
    return {
        "left": seat.allowance()["left"],
        "today": min(float(seat.left_today()), seat.allowance()["left"]),
        "per_day": float(seat.account.per_day),
        "history": mine[::-1][:HISTORY],
        "tables": seat.tables().facts,
        "columns": {t.name: [c.name for c in t.columns] for t in seat.tables().facts},
        "usual": float(policy.spend),
    }


async def _explained(desk: Desk, seat: Seat, asked: Asked) -> dict[str, Any]:
    answer = await desk.weighed(seat.account.name, seat.explain, asked.sql, **asked.wish())
    return await desk.quickly(_foretold, answer, seat)


def _foretold(answer: Answer, seat: Seat) -> dict[str, Any]:
    useless = answer.useless
    return {
        "bars": bar_words(answer),
        "price": answer.price or 0.0,
        "free": not answer.cost,
        "follows": answer.follows,
        "synopsis": answer.synopsis,
        "left": answer.left,
        "admitted": answer.admitted,
        "refusal": answer.refusal or "",
        "useless": None if useless is None else drawing.failed(useless),
        "guesses": _guesses(answer, seat),
        "advice": [line.strip() for line in advice(answer)],
        "notes": answer.bounding,
    }


def _guesses(answer: Answer, seat: Seat) -> list[dict[str, Any]]:
    goals = {a.text: policy_words.goal(a) for a in seat.gate.policy.attackers}
    return [g | {"words": goals.get(g["guess"], g["guess"])} for g in binding_first(answer.guesses)]


def _told(answer: Answer) -> dict[str, Any]:
    cells = answer.cells()
    return {
        "columns": answer.columns,
        "noisy": [name not in answer.exact for name in answer.columns],
        "numbers": [kind in ("integer", "real") for kind in answer.kinds] or [False] * len(answer.columns),
        "rows": cells[:ROWS],
        "many": len(cells),
        "stored": answer.stored,
        "free": not answer.cost,
        "follows": answer.follows,
        "synopsis": answer.synopsis,
        "left": answer.left,
        "guesses": binding_first(answer.guesses),
        "notes": answer.bounding,
        "bounded": BOUNDED,
        "picture": _drawn(answer),
        "csv": b64encode(_csv(answer)).decode(),
    }


def _drawn(answer: Answer) -> Any:
    """The chart of an answer; None where it has no numbers to compare."""
    if len(answer.rows or ()) < 2:
        return None
    try:
        return picture(answer.plot())
    except Misconfigured:
        return None


def _csv(answer: Answer) -> bytes:
    """All rows, each noisy column followed by its error bar."""
    from pyarrow import csv

    sink = io.BytesIO()
    csv.write_csv(answer.to_arrow(), sink)
    return sink.getvalue()
