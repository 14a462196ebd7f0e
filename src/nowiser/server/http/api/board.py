"""For those who oversee: how well each attacker guesses over time, who asked what, the ledger and its proof."""

import json
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from nowiser.ledger.base import Ledger
from nowiser.report.account import course
from nowiser.server.http.api.who import Overseer, TheDesk
from nowiser.server.seat import Seat

router = APIRouter(tags=["overseeing"])


@router.get("/guesses")
async def guesses(desk: TheDesk, account: Overseer) -> dict[str, Any]:
    """How well each attacker guessed at most after each answer, from the first; a long history is thinned out."""
    seat = await desk.quickly(desk.seat, account)
    return await desk.quickly(_over_time, seat)


def _over_time(seat: Seat) -> dict[str, Any]:
    steps = course(seat.gate.policy, seat.statement().lines)
    return {"course": [{"answers": n, "guesses": [g.to_json() for g in told]} for n, told in steps]}


@router.get("/ledger")
async def ledger(desk: TheDesk, account: Overseer) -> dict[str, Any]:
    """Who asked what, what it used, how every attacker stands, what is left: `nowiser ledger --json`."""
    seat = await desk.quickly(desk.seat, account)
    statement = await desk.quickly(seat.statement)
    return dict(statement.to_json())


@router.post("/ledger/verify")
async def verify(desk: TheDesk, _: Overseer) -> dict[str, Any]:
    """Check every hash, the order, the stored answers, the totals, the accounts and the anchor."""
    head = await desk.quickly(desk.gate.ledger.verify)
    return {"verified": True, "entries": head.seq, "head": head.hash}


@router.get("/ledger/export", response_class=Response)
async def export(desk: TheDesk, _: Overseer) -> Response:
    """The chain, one entry a line: `seq`, `kind`, `body`, `previous`, `hash`. No answer, no credential is in it."""
    kept = desk.gate.ledger
    await desk.quickly(kept.verify)
    attached = {"content-disposition": 'attachment; filename="ledger.jsonl"'}
    return StreamingResponse(_lines(kept), media_type="application/jsonl", headers=attached)


def _lines(kept: Ledger) -> Iterator[str]:
    for e in kept.entries():
        link = {"seq": e.seq, "kind": e.kind, "body": e.body, "previous": e.previous, "hash": e.hash}
        yield json.dumps(link, ensure_ascii=False, sort_keys=True) + "\n"
