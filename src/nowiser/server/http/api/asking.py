"""Asking: a question, its price beforehand, what may be asked, what is left.

The question itself is its identity: the same question on the same data is answered again, free. Reload, double click
and retry cost nothing.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from nowiser.report.sent import sent
from nowiser.server.http.api.forms import FORMS, formed
from nowiser.server.http.api.who import Anybody, Body, TheDesk

router = APIRouter(tags=["asking"])

Spend = Annotated[float | str, Field(description="The share of the whole allowance to use: 0.05, or `5%`")]


class Question(Body):
    """A question in SQL."""

    sql: Annotated[str, Field(max_length=100_000)]


class Wish(Question):
    """A question, and how precise it is to be: `error`, or `spend`; the policy's default where neither is given."""

    error: Annotated[float | None, Field(description="The 95 % half-width wanted")] = None
    spend: Spend | None = None

    def wish(self) -> dict[str, Any]:
        return {"error": self.error, "spend": self.spend}


class Query(Wish):
    """A question to be answered, and charged."""

    clipped: Annotated[bool, Field(description="Also estimate how many rows were clipped or left out")] = False
    anyway: Annotated[bool, Field(description="Also where the answer would tell next to nothing")] = False


@router.post("/query", responses=FORMS)
async def query(request: Request, desk: TheDesk, account: Anybody, asked: Query) -> Response:
    """Answer a question. It is charged once; asked again on the same data it is free."""
    seat = await desk.quickly(desk.seat, account)
    answer = await desk.answered(seat, asked.sql, **asked.wish(), clipped=asked.clipped, anyway=asked.anyway)
    return formed(request, answer)


@router.post("/explain")
async def explain(desk: TheDesk, account: Anybody, asked: Wish) -> dict[str, Any]:
    """What a question would cost and how precise it would be. Charges nothing."""
    seat = await desk.quickly(desk.seat, account)
    return sent(await desk.weighed(account.name, seat.explain, asked.sql, **asked.wish()))


@router.post("/describe")
async def describe(desk: TheDesk, account: Anybody, asked: Question) -> dict[str, Any]:
    """Names and kinds of the columns of an answer. Charges nothing."""
    seat = await desk.quickly(desk.seat, account)
    found = await desk.weighed(account.name, seat.describe, asked.sql)
    return {"columns": [{"name": d.name, "kind": d.kind.value, "nullable": d.nullable} for d in found]}


@router.post("/remaining")
async def remaining(desk: TheDesk, account: Anybody, asked: Wish) -> dict[str, Any]:
    """How many questions of this price still fit; `null`: any number does."""
    seat = await desk.quickly(desk.seat, account)
    many = await desk.weighed(account.name, seat.remaining, asked.sql, **asked.wish())
    return {"remaining": None if many == float("inf") else int(many)}


@router.get("/tables")
async def tables(desk: TheDesk, account: Anybody) -> dict[str, Any]:
    """What may be asked about, as the custodian declares it."""
    seat = await desk.quickly(desk.seat, account)
    found = await desk.quickly(seat.tables)
    return dict(found.to_dict())


@router.get("/allowance")
async def allowance(desk: TheDesk, account: Anybody) -> dict[str, Any]:
    """How every attacker stands after all answers so far, and what is left."""
    seat = await desk.quickly(desk.seat, account)
    return dict(await desk.quickly(seat.allowance))


@router.get("/questions")
async def questions(desk: TheDesk, account: Anybody) -> dict[str, Any]:
    """What I asked; what everybody asked, for custodians and auditors."""
    seat = await desk.quickly(desk.seat, account)
    lines = await desk.weighed(account.name, seat.history)
    return {"questions": [line.to_json() for line in lines]}
