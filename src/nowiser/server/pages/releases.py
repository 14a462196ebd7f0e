"""Releases: which tables were published, what each used of the allowance, and the reports that lie beside them."""

import json
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from nowiser.server.pages import drawing
from nowiser.server.pages.access import SeesAll, TheDesk
from nowiser.server.problems import NotFound
from nowiser.server.seat import Seat

router = APIRouter()
ENDING = ".codebook.json"
LARGEST = 50_000_000  # bytes of a codebook or report that are read
# A report is a page of its own with its own style; nothing in it runs.
ALONE = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"}


@router.get("/releases")
async def releases(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    seat = desk.seat(account)
    lines = [line for line in await desk.quickly(seat.history) if line.kind == "publication"]
    reports = await desk.quickly(_reports, seat)
    return drawing.page(request, "releases.html", lines=lines[::-1], reports=reports)


@router.get("/releases/{seq}/report")
async def report(desk: TheDesk, account: SeesAll, seq: int) -> Response:
    found = (await desk.quickly(_reports, desk.seat(account))).get(seq)
    if found is None:
        raise NotFound("There is no report of this release.", hint="It lies beside the released file.")
    return Response(await desk.quickly(found.read_bytes), media_type="text/html", headers=ALONE)


def _reports(seat: Seat) -> dict[int, Path]:
    """By entry of the ledger: the report beside a file whose codebook names the digest that was charged."""
    assert seat.gate.policy.path is not None
    home = seat.gate.policy.path.resolve().parent
    named: dict[str, Path] = {}
    for codebook in (*home.glob(f"*{ENDING}"), *home.glob(f"*/*{ENDING}")):
        report = codebook.with_name(codebook.name.removesuffix(ENDING) + ".report.html")
        if report.is_file() and max(report.stat().st_size, codebook.stat().st_size) <= LARGEST:
            named[_digest(codebook)] = report
    return {r.seq: named[r.digest] for r in seat.gate.ledger.releases() if r.digest and r.digest in named}


def _digest(codebook: Path) -> str:
    """Of the data it describes; empty where it is no codebook of ours."""
    try:
        found = json.loads(codebook.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    file = found.get("file") if isinstance(found, dict) else None
    return str(file.get("sha256") or "") if isinstance(file, dict) else ""
