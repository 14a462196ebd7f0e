"""Promises: what each attacker may gain; changing that, looked at first, with a reason, and by two with four eyes."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from nowiser.errors import NowiserError
from nowiser.model.policy import Policy
from nowiser.report.custodian import policy_words
from nowiser.server import promises
from nowiser.server.desk import Desk
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Anybody, Custodian, TheDesk
from nowiser.server.pages.board import guesses
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import problem_of
from nowiser.server.seat import Seat

router = APIRouter()
Word = Annotated[str, Form(max_length=1000)]


@router.get("/limits")
async def limits(request: Request, desk: TheDesk, account: Anybody) -> Response:
    return await _page(request, desk, account)


@router.post("/limits/preview")
async def preview(request: Request, desk: TheDesk, account: Custodian, guess: Word, gain: Word) -> Response:
    """What another limit would do to the most exposed person. Nothing is done."""
    gain = gain.replace(" ", "").removesuffix("%") + "%"

    def looked() -> promises.Preview:
        gate = desk.gate
        return promises.preview(gate, promises.with_limits(promises.written(gate), {guess: gain}))

    try:
        found = await desk.quickly(looked)
    except NowiserError as failure:
        return await _page(request, desk, account, failure=failure)
    return await _page(request, desk, account, looked=found, chosen={"guess": guess, "gain": gain})


@router.post("/limits")
async def change(
    request: Request,
    desk: TheDesk,
    account: Custodian,
    *,
    guess: Word,
    gain: Word,
    based_on: Word,
    reason: Word = "",
) -> Response:
    """Do it; with four eyes, propose it."""

    def done() -> str:
        gate, eyes = desk.gate, desk.settings.four_eyes
        text = promises.with_limits(promises.written(gate), {guess: gain})
        _, waits = promises.change(gate, text, based_on=based_on, by=account.name, reason=reason, four_eyes=eyes)
        return "The new limit is in force." if waits is None else "Proposed. Another custodian has to confirm it."

    return await _did(request, desk, account, done)


@router.post("/limits/{seq}/confirm")
async def confirm(request: Request, desk: TheDesk, account: Custodian, seq: int) -> Response:
    def done() -> str:
        promises.confirm(desk.gate, seq, by=account.name)
        return "Confirmed: the new limit is in force."

    return await _did(request, desk, account, done)


@router.post("/limits/{seq}/withdraw")
async def withdraw(request: Request, desk: TheDesk, account: Custodian, seq: int) -> Response:
    def done() -> str:
        promises.withdraw(desk.gate, seq, by=account.name)
        return "The proposal is withdrawn. Nothing has changed."

    return await _did(request, desk, account, done)


async def _did(request: Request, desk: Desk, account: Account, done: Callable[[], str]) -> Response:
    try:
        said = await desk.quickly(done)
    except NowiserError as failure:
        return await _page(request, desk, account, failure=failure)
    return await _page(request, desk, account, said=said)


async def _page(
    request: Request,
    desk: Desk,
    account: Account,
    *,
    looked: promises.Preview | None = None,
    chosen: dict[str, str] | None = None,
    failure: NowiserError | None = None,
    said: str = "",
) -> Response:
    content = await desk.quickly(_content, desk, account)
    return drawing.page(
        request,
        "limits.html",
        status=200 if failure is None else problem_of(failure).status,
        **content,
        looked=None if looked is None else _looked(looked, desk.gate.policy),
        chosen=chosen,
        failed=None if failure is None else drawing.failed(failure),
        said=said,
        four_eyes=desk.settings.four_eyes,
        changes=account.role is Role.custodian,
    )


def _content(desk: Desk, account: Account) -> dict[str, Any]:
    """The promises in words; how attackers stand for those who see the board; what waits."""
    seat: Seat = desk.seat(account)
    policy = seat.gate.policy
    waits = promises.proposal(seat.gate) if account.role.sees_all else None
    return {
        "promised": policy_words.promises(policy),
        "tables": policy_words.tables(policy),
        "standing": {g["guess"]: g for g in guesses(seat, seat.statement())} if account.role.sees_all else {},
        "waits": waits,
        "waiting": None if waits is None else _looked(promises.preview(seat.gate, waits.text), policy),
    }


def _looked(found: promises.Preview, policy: Policy) -> dict[str, Any]:
    """A preview in words. What stays as it is is left out."""
    goals = {a.text: policy_words.goal(a) for a in policy.attackers}
    moved = [
        {"words": goals.get(m.guess, m.guess), "old": m.old.to_json(), "new": m.new.to_json()}
        for m in found.moved
        if m.old is not None and m.new is not None and m.old.limit != m.new.limit
    ]
    return {
        "moved": moved,
        "changes": [str(c) for c in found.changes if not str(c).startswith("attackers:")],
        "loosens": found.loosens,
        "left": found.left,
        "based_on": found.based_on,
    }
