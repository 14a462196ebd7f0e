"""The board: whether every promise is kept, what attackers can guess by now, who asked what, how long it will last."""

from fractions import Fraction
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from nowiser.report.account import Account as Statement, chart, course
from nowiser.report.custodian import policy_words
from nowiser.server.pages import drawing
from nowiser.server.pages.access import SeesAll, TheDesk
from nowiser.server.pages.pace import pace
from nowiser.server.pages.pictures import picture
from nowiser.server.seat import Seat

router = APIRouter()
SHOWN = 12  # latest questions
STEPS = 12  # rows of the table beneath the chart


@router.get("/board")
async def board(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    content = await desk.quickly(_content, desk.seat(account))
    accounts = await desk.quickly(desk.register.every)
    others = [a for a in accounts if a.role.asks and a.name != account.name]
    return drawing.page(request, "board.html", **content, others=bool(others))


def _content(seat: Seat) -> dict[str, Any]:
    policy, read = seat.gate.policy, seat.statement()
    asked = [line for line in read.lines if line.kind == "question"]
    released = [line for line in read.lines if line.kind == "publication"]
    charges = [line for line in read.lines if line.charge]
    return {
        "kept": all(g.after <= g.limit for g in read.guesses),
        "guesses": guesses(seat, read),
        "unguarded": list(seat.allowance()["unguarded"]),
        "left": float(read.left),
        "asked": len(asked),
        "paid": sum(bool(line.charge) for line in asked),
        "failed": sum(line.state == "failed" for line in asked),
        "released": len(released),
        "pace": pace(charges, float(read.left)),
        "latest": [line for line in reversed(read.lines) if line.kind in ("question", "publication")][:SHOWN],
        "people": people(read),
        "closed": read.closed,
        "picture": picture(chart(policy, read)) if charges else None,
        "steps": _steps(seat, read),
        "texts": [policy_words.goal(a) for a in policy.attackers],
        "typical": int(max(Fraction(0), read.left) / policy.spend),
        "spend": float(policy.spend),
    }


def guesses(seat: Seat, read: Statement) -> list[dict[str, Any]]:
    """Every attacker, the one nearest to his limit first, in words."""
    attackers = seat.gate.policy.attackers
    found = [
        g.to_json()
        | {
            "words": policy_words.goal(a),
            "used": min(1.0, max(0.0, (g.after - g.before) / max(g.limit - g.before, 1e-12))),
        }
        for g, a in zip(read.guesses, attackers, strict=True)
    ]
    return sorted(found, key=lambda g: -g["used"])


def people(read: Statement) -> list[dict[str, Any]]:
    """Who asked how much."""
    used = {name: (share, granted) for name, share, granted in read.analysts}
    names = dict.fromkeys([*used, *(line.who for line in read.lines if line.kind == "question")])
    found = []
    for name in names:
        asked = [line for line in read.lines if line.kind == "question" and line.who == name]
        share, granted = used.get(name, (0, None))
        last = asked[-1].at if asked else ""
        found.append({"name": name, "asked": len(asked), "used": float(share), "granted": granted, "last": last})
    return sorted(found, key=lambda p: -float(p["used"]))


def _steps(seat: Seat, read: Statement) -> list[tuple[int, list[float]]]:
    """The numbers of the chart: after how many answers, how many points each attacker gained."""
    every = course(seat.gate.policy, read.lines)
    thinned = every[:: max(1, len(every) // STEPS)]
    if thinned[-1] != every[-1]:
        thinned.append(every[-1])
    return [(n, [g.after - g.before for g in guessed]) for n, guessed in thinned]
