"""The flow: read the program, ask the engines in turn, answer proved, refuted or unknown.

    read → bounded proofs (ε_min for lists of 1, 2, … elements) → a proof for every length, or a refutation

"Proved" is said only of a certificate that the independent checker has accepted.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import log
from typing import Any

from nowiser.verify.bounded.bound import Bound, bound
from nowiser.verify.bounded.gaussian import gaussian_bound, gaussian_noise
from nowiser.verify.check.certificate import check, within, within_gaussian
from nowiser.verify.check.follow import Rejected
from nowiser.verify.composed import compose
from nowiser.verify.everyn.prove import every_length
from nowiser.verify.language.read import read
from nowiser.verify.outside import MixedPowers, Outside, TooMuch
from nowiser.verify.question import Question, ask, claim_json
from nowiser.verify.refute.refute import refute
from nowiser.verify.symbolic.paths import Limits
from nowiser.verify.verdict import Proved, Unknown, Verdict

SIZES = 6
MOST_PAIRS = 5000  # pairs of paths of one length; the next length is left out when it would need more
SMALL = "a longer list may need more: what holds for short lists can hold because they are short"


def verify(
    program: str | Callable[..., Any],
    private: str | None = None,
    neighbours: str = "one",
    epsilon: str | float | Fraction | None = None,
    *,
    rho: str | float | Fraction | None = None,
    delta: float | Fraction = 0,
    public: Mapping[str, Any] | None = None,
    function: str | None = None,
    whole: bool | None = None,
    sizes: int | None = None,
    seconds: float = 60.0,
) -> Verdict:
    """Prove or refute that a program is private, or say why neither was possible.

    program: a Python function or the text of one. private: its private argument (the first one, if not said).
    neighbours: `one` (by at most 1), `one by 2`, `one arbitrary`, `all`, `all by 1/2`, `length`.
    epsilon: `eps`, `2*eps`, `0.5`, `ln(3)`; or rho. public: numbers for public arguments; others stay symbols.
    """
    try:
        read_program = read(program, function)
    except Outside as stop:
        return _unknown(str(epsilon or rho or "eps"), stop)
    question = ask(read_program, private, neighbours, epsilon, rho, delta, public, whole=whole)
    return judge(question, sizes, seconds)


def judge(question: Question, sizes: int | None = None, seconds: float = 60.0) -> Verdict:
    limits = Limits.within(seconds)
    claim = str(question.claim)
    composed = _composed(question, limits) if sizes is None else None
    if composed is not None:
        return composed
    try:
        bounds, epsilon, stopped = _bounds(question, sizes, limits)
    except Outside as stop:
        return _unknown(claim, stop)
    curve = tuple((b.size, cost_of(b)) for b in bounds)
    failing = [b for b in bounds if not holds(question, b, epsilon)]
    gaussian = bool(bounds[0].certificate.get("gaussian"))
    if not failing:
        certificate, why = _every(question, epsilon, limits, gaussian=gaussian) if sizes is None else (None, "")
        if certificate is None:
            certificate = certificate_of(question, bounds, epsilon)
            try:
                check(certificate, question.program.source)
            except Rejected as no:
                return Unknown(claim, f"the checker does not accept the proof that was found: {no}", curve=curve)
        return _proved(question, bounds, epsilon, certificate, curve, [n for n in (why, stopped) if n])
    refuted = refute(question, bounds, failing, limits)
    if refuted is not None:
        return refuted
    worst = failing[0].worst
    return Unknown(
        claim,
        worst.why if worst is not None and worst.why else "this kind of proof needs more than is claimed",
        curve=curve,
        hint=f"lists of {failing[0].size}",
    )


def _composed(question: Question, limits: Limits) -> Proved | None:
    """Of calls that are proved one by one; None where that is not possible or costs too much."""
    found = compose(question, limits)
    if found is None or not within(claim_json(question), cost=found[0]):
        return None
    certificate = certificate_of(question, [], None) | {"composed": found[1]}
    try:
        check(certificate, question.program.source)
    except Rejected:
        return None
    lengths = [len(part["sizes"]) for part in found[1] if question.listed and "every" not in part]
    called = ", ".join(dict.fromkeys(part["question"]["function"] for part in found[1]))
    return Proved(
        claim=str(question.claim),
        smallest=str(found[0]),
        sizes=min(lengths) if lengths else None,
        certificate=certificate,
        nats=question.claim.guess_nats,
        engine="composition",
        notes=(f"the sum of what {called} cost", *([SMALL] if lengths else [])),
    )


def _every(
    question: Question, epsilon: Fraction | None, limits: Limits, *, gaussian: bool
) -> tuple[dict[str, Any] | None, str]:
    """A certificate for every length that the checker accepts, or why there is none."""
    if not question.listed or gaussian:
        return None, ""
    try:
        found = every_length(question, epsilon, limits)
    except Outside as stop:
        return None, f"no proof for every length: {stop.reason}"  # its line is one of the program written out
    if found is None or not within(claim_json(question), cost=found[0], epsilon=epsilon):
        return None, "no proof for every length was found"
    certificate = certificate_of(question, [], epsilon) | {"every": found[1]}
    try:
        check(certificate, question.program.source)
    except Rejected as no:
        return None, f"no proof for every length: the checker says {no}"
    return certificate, ""


def _bounds(question: Question, sizes: int | None, limits: Limits) -> tuple[list[Bound], Fraction | None, str]:
    """The bounds for 1, 2, … elements; ε is a number only where the program is not linear in the symbol."""
    try:
        found, stopped = _every_size(question, sizes, None, limits)
    except MixedPowers:
        found, stopped = _every_size(question, sizes, Fraction(1), limits)
        return found, Fraction(1), stopped
    return found, None, stopped


def _every_size(
    question: Question, sizes: int | None, epsilon: Fraction | None, limits: Limits
) -> tuple[list[Bound], str]:
    found: list[Bound] = []
    gaussian = (question.claim.kind == "rho" or question.claim.delta > 0) and gaussian_noise(question)
    most = (sizes or SIZES) if question.listed else 1
    for size in range(1, most + 1):
        try:
            found.append(gaussian_bound(question, size, limits) if gaussian else bound(question, size, epsilon, limits))
        except TooMuch as stop:
            if not found:
                raise
            return found, stop.reason
        pairs = [len(b.certificate.get("pairs", [])) for b in found]
        if sizes is None and size > 1 and pairs[-1] ** 2 > MOST_PAIRS * max(1, pairs[-2]):
            break
    return found, ""


def cost_of(b: Bound) -> float | None:
    """The least ε, at ε = 1."""
    if b.ratio is not None:
        return None if b.ratio.value is None else log(b.ratio.value)
    return None if b.cost is None else float(b.cost)


def holds(question: Question, b: Bound, epsilon: Fraction | None) -> bool:
    if b.ratio is not None:
        return b.ratio.value is not None and within(claim_json(question), ratio=b.ratio.value, epsilon=epsilon)
    if b.certificate.get("gaussian"):
        return b.cost is not None and within_gaussian(claim_json(question), b.cost)
    return b.cost is not None and within(claim_json(question), cost=b.cost, epsilon=epsilon)


def certificate_of(question: Question, bounds: list[Bound], epsilon: Fraction | None) -> dict[str, Any]:
    return {
        "nowiser": 1,
        "question": question.to_json(),
        "claim": claim_json(question),
        "said": str(question.claim),
        "epsilon": None if epsilon is None else str(epsilon),
        "sizes": [dict(b.certificate) for b in bounds],
    }


def _proved(  # noqa: PLR0917
    question: Question,
    bounds: list[Bound],
    epsilon: Fraction | None,
    certificate: Mapping[str, Any],
    curve: tuple[tuple[int, float | None], ...],
    stopped: list[str],
) -> Proved:
    ratios = [b.ratio.value for b in bounds if b.ratio is not None and b.ratio.value is not None]
    cost = max((b.cost for b in bounds if b.cost is not None), default=None)
    counted = bool(ratios) and (cost is None or log(max(ratios)) > cost)  # some lengths may have no noise but coins
    smallest = f"ln {max(ratios)}" if counted else str(cost or 0)
    notes = []
    if epsilon is not None:
        notes.append("noise that is not in proportion to 1/ε, so nothing is said about any other ε")
    every = "every" in certificate
    if bounds and bounds[0].certificate.get("gaussian"):
        smallest = f"ρ = {smallest}"
    if question.listed and not every:
        notes.append(SMALL)
        notes += stopped
    if every:
        smallest = str(max(Fraction(part["cost"]) for part in certificate["every"]))
    return Proved(
        claim=str(question.claim) + ("" if epsilon is None else f" at ε = {epsilon} only"),
        smallest=smallest,
        sizes=len(bounds) if question.listed and not every else None,
        certificate=certificate,
        curve=curve,
        nats=question.claim.guess_nats,
        engine="invariants of its loops" if every else "coins counted" if counted else "linear programmes",
        notes=tuple(notes),
    )


def _unknown(claim: str, stop: Outside) -> Unknown:
    return Unknown(claim, stop.reason, stop.line, stop.construct, stop.hint)
