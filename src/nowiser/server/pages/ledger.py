"""The ledger: every entry in words, whether the chain verifies, and the whole of it to take away."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from nowiser.errors import LedgerBroken
from nowiser.report.account import Line
from nowiser.server.desk import Desk
from nowiser.server.pages import drawing
from nowiser.server.pages.access import SeesAll, TheDesk

router = APIRouter()
SHOWN = 50
KINDS = {"question": "Questions", "publication": "Releases", "policy": "Policy", "access": "Access", "act": "Acts"}


@router.get("/ledger")
async def ledger(request: Request, desk: TheDesk, account: SeesAll, kind: str = "", before: int = 0) -> Response:
    lines = await desk.quickly(desk.seat(account).history)
    return drawing.page(request, "ledger.html", **_listed(lines, kind, before), verified=None, broken=None)


@router.post("/ledger/verify")
async def verify(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    """Every hash, the stored answers, the totals and the anchor."""
    lines = await desk.quickly(desk.seat(account).history)
    verified, broken = None, None
    try:
        verified = await desk.quickly(desk.gate.ledger.verify)
    except LedgerBroken as error:
        broken = drawing.failed(error)
    return drawing.page(request, "ledger.html", **_listed(lines, "", 0), verified=verified, broken=broken)


@router.get("/ledger.jsonl")
async def export(desk: TheDesk, account: SeesAll) -> Response:  # noqa: ARG001 (who may)
    named = {"content-disposition": 'attachment; filename="ledger.jsonl"'}
    return StreamingResponse(_entries(desk), media_type="application/jsonl", headers=named)


def _entries(desk: Desk) -> Iterator[str]:
    """One JSON object a line: exactly what the chain hashes, and the hashes."""
    for entry in desk.gate.ledger.entries():
        yield json.dumps(asdict(entry), ensure_ascii=False) + "\n"


def _listed(lines: tuple[Line, ...], kind: str, before: int) -> dict[str, Any]:
    """The latest entries of a kind, or those before a number."""
    kind = kind if kind in KINDS else ""
    wanted = [ln for ln in reversed(lines) if (not kind or ln.kind == kind) and (not before or ln.seq < before)]
    more = wanted[SHOWN - 1].seq if len(wanted) > SHOWN else 0
    return {"lines": wanted[:SHOWN], "more": more, "kind": kind, "kinds": KINDS, "every": len(lines)}
