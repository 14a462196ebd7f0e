"""Proving a composition: each function that is called on private data by itself, then their sum."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.verify.bounded.bound import bound
from nowiser.verify.check.composed import Call, calls, composed_cost
from nowiser.verify.check.follow import Rejected
from nowiser.verify.everyn.prove import every_length
from nowiser.verify.language.read import read
from nowiser.verify.outside import Outside
from nowiser.verify.question import Claim, Question, ask, claim_json
from nowiser.verify.symbolic.paths import Limits

SIZES = 4  # of calls that have no proof for every length


def compose(question: Question, limits: Limits) -> tuple[Fraction, list[dict[str, Any]]] | None:
    """The cost and the certificates of the calls; None where the program is no composition, or a call has no proof."""
    if not question.symbol or question.claim.kind != "eps":
        return None
    try:
        found = calls(question.program.source, question.to_json())
        proofs = [_proof(question, call, limits) for call in found]
    except (Rejected, Outside, Misconfigured):
        return None
    known = [p for p in proofs if p is not None]
    if len(known) < len(proofs):
        return None
    return composed_cost(found, [cost for cost, _ in known], str(question.neighbours)), [c for _, c in known]


def _proof(question: Question, call: Call, limits: Limits) -> tuple[Fraction, dict[str, Any]] | None:
    program = read(question.program.source, call.function)
    asked = ask(program, call.private, str(question.neighbours), call.symbol, public=call.numbers, whole=question.whole)
    asked = replace(asked, claim=Claim(Fraction(1, 10**9), call.symbol), listed=question.listed)  # the least is wanted
    part: dict[str, Any] = {"nowiser": 1, "epsilon": None, "sizes": []}
    cost: Fraction | None = None
    every = every_length(asked, None, limits) if asked.listed else None
    if every is not None:
        cost, part["every"] = every
    else:
        bounds = [bound(asked, n, None, limits) for n in range(1, (SIZES if asked.listed else 1) + 1)]
        if any(b.cost is None for b in bounds):
            return None
        cost = max(b.cost for b in bounds if b.cost is not None)
        part["sizes"] = [dict(b.certificate) for b in bounds]
    asked = replace(asked, claim=Claim(max(cost, Fraction(1, 10**9)), call.symbol))
    return cost, part | {"question": asked.to_json(), "claim": claim_json(asked), "said": str(asked.claim)}
