"""The promises: what they are, what a change would do, changing them with a reason, by two with four eyes."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from nowiser.errors import Misconfigured
from nowiser.gateway import Gateway
from nowiser.server import promises
from nowiser.server.http.api.who import Body, Custodian, Overseer, TheDesk

router = APIRouter(prefix="/policy", tags=["promises"])


class New(Body):
    """A new text of the policy file; or other limits in the present one."""

    text: Annotated[str | None, Field(max_length=500_000, description="The whole new text")] = None
    limits: Annotated[
        dict[str, str] | None, Field(description='Or gains by attacker: `{"visits.time within 2": "8%"}`')
    ] = None

    def on(self, gate: Gateway) -> str:
        if (self.text is None) == (self.limits is None):
            raise Misconfigured("Send either the whole text or limits.")
        return self.text if self.text is not None else promises.with_limits(promises.written(gate), self.limits or {})


class Change(New):
    """The same, to be done."""

    based_on: Annotated[str, Field(max_length=100, description="Of the preview: the policy that was looked at")]
    reason: Annotated[str, Field(max_length=promises.LONGEST)]


@router.get("")
async def policy(desk: TheDesk, _: Overseer) -> dict[str, Any]:
    """The text in force, its digest, and the change that waits for a second custodian, if any."""
    return await desk.quickly(lambda: _told(desk.gate))


def _told(gate: Gateway) -> dict[str, Any]:
    waiting = promises.proposal(gate)
    return {
        "digest": gate.policy.digest,
        "text": promises.written(gate),
        "proposal": None if waiting is None else waiting.to_json(),
    }


@router.post("/preview")
async def preview(desk: TheDesk, _: Overseer, new: New) -> dict[str, Any]:
    """What a change would do to the most exposed person, for each attacker. Nothing is done."""
    gate = await desk.quickly(lambda: desk.gate)
    return (await desk.quickly(lambda: promises.preview(gate, new.on(gate)))).to_json()


@router.post("")
async def change(desk: TheDesk, by: Custodian, new: Change) -> dict[str, Any]:
    """Change the policy, with a reason. With four eyes, a change that loosens waits for a second custodian."""
    gate = await desk.quickly(lambda: desk.gate)
    done = partial(promises.change, based_on=new.based_on, by=by.name, reason=new.reason)
    found, waits = await desk.quickly(lambda: done(gate, new.on(gate), four_eyes=desk.settings.four_eyes))
    await desk.quickly(lambda: desk.gate)  # taken up now, not with the next question
    return {**found.to_json(), "in_force": waits is None, "proposal": None if waits is None else waits.to_json()}


@router.post("/proposals/{seq}/confirm")
async def confirm(desk: TheDesk, by: Custodian, seq: int) -> dict[str, Any]:
    """The second custodian says yes: it is in force."""
    gate = await desk.quickly(lambda: desk.gate)
    found = await desk.quickly(lambda: promises.confirm(gate, seq, by=by.name))
    await desk.quickly(lambda: desk.gate)
    return {**found.to_json(), "in_force": True, "proposal": None}


@router.delete("/proposals/{seq}", status_code=204)
async def withdraw(desk: TheDesk, by: Custodian, seq: int) -> None:
    """Any custodian says no."""
    gate = await desk.quickly(lambda: desk.gate)
    await desk.quickly(lambda: promises.withdraw(gate, seq, by=by.name))
