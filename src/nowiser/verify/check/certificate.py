"""`nowiser verify --check`: a certificate and a program in, what is proved out."""

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from nowiser.verify.check.bounded import check_finite, check_size
from nowiser.verify.check.composed import check_composed
from nowiser.verify.check.everyn import check_every
from nowiser.verify.check.follow import Rejected, World, arguments, every_path, namespace, read
from nowiser.verify.check.gaussian import check_gaussian, delta_of


def check(certificate: Mapping[str, Any], program: str) -> str:
    """The claim that the certificate proves of this program, as a sentence. Raises Rejected if it proves none."""
    try:
        return _check(certificate, program)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError, SyntaxError) as error:
        raise Rejected(f"the certificate does not fit the program: {type(error).__name__}") from error


def _check(certificate: Mapping[str, Any], program: str) -> str:
    question = certificate["question"]
    epsilon = None if certificate["epsilon"] is None else Fraction(certificate["epsilon"])
    if question["symbol"] == "" and epsilon is not None:
        raise Rejected("there is no ε to be a number")
    symbolic = epsilon is None and question["symbol"] != ""
    claim = certificate["claim"]
    sure = "" if epsilon is None else f" at ε = {epsilon}"
    if certificate.get("composed") is not None:
        cost, most = check_composed(certificate["composed"], program, question, _check)
        if epsilon is not None or not within(claim, cost=cost):
            raise Rejected("the cost is larger than the claim")
        lengths = (
            "" if not question["listed"] else f" for lists of {'every length' if most is None else f'up to {most}'}"
        )
        return f"{question['function']} keeps {certificate['said']}{lengths}"
    if certificate.get("every") is not None:
        cost = check_every(certificate["every"], program, question, epsilon)
        if not within(claim, cost=cost, epsilon=epsilon):
            raise Rejected("the cost is larger than the claim")
        return f"{question['function']} keeps {certificate['said']}{sure} for lists of every length"
    sizes = certificate["sizes"]
    if not sizes:
        raise Rejected("there is no proof in it")
    if [s["size"] for s in sizes] != list(range(1, len(sizes) + 1)):
        raise Rejected("a length is missing")
    if not question["listed"] and (len(sizes) != 1 or question["neighbours"] == "length"):
        raise Rejected("one number has one length")
    for each in sizes:
        found = _paths(program, question, epsilon, each["size"])
        if each.get("gaussian"):
            if not within_gaussian(claim, check_gaussian(each, found, question)):
                raise Rejected("the cost is larger than the claim")
            continue
        if each.get("finite"):
            ratio = check_finite(found, question, each["size"])
            if not within(claim, ratio=ratio, epsilon=epsilon):
                raise Rejected("the ratio is larger than the claim")
        elif not within(claim, cost=check_size(each, found, question, symbolic=symbolic), epsilon=epsilon):
            raise Rejected("the cost is larger than the claim")
    lengths = "" if not question["listed"] else f" for lists of up to {len(sizes)}"
    return f"{question['function']} keeps {certificate['said']}{sure}{lengths}"


def _paths(program: str, question: Mapping[str, Any], epsilon: Fraction | None, size: int) -> dict[int, Any]:
    module = read(program)
    holder: list[World] = [World([])]
    reach = namespace(holder)
    exec(compile(module, "program", "exec"), reach)  # noqa: S102 (only the language's statements; no builtins)
    function = reach[question["function"]]
    names = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    found = {}
    for n in (size - 1, size) if question["neighbours"] == "length" else (size,):
        given = arguments(question, names, n, epsilon)

        def call(world: World, given: Any = given) -> Any:
            holder[0] = world
            return function(**dict(zip(names, given(world), strict=True)))

        found[n] = every_path(call)
    return found


def within_gaussian(claim: Mapping[str, Any], rho: Fraction) -> bool:
    """Whether Gaussian noise of this ρ keeps a claim of ρ, or of ε with δ, given as numbers."""
    if claim["symbol"] or claim["ratio"] is not None:
        return False
    if claim["kind"] == "rho":
        return rho <= Fraction(claim["factor"])
    return delta_of(rho, float(Fraction(claim["factor"]))) <= float(Fraction(claim["delta"]))


def within(
    claim: Mapping[str, Any],
    *,
    cost: Fraction | None = None,
    ratio: Fraction | None = None,
    epsilon: Fraction | None = None,
) -> bool:
    """Whether a cost (of e^cost), or a ratio, is at most what is claimed."""
    factor = Fraction(claim["factor"])
    if claim["kind"] == "rho":  # ε implies ε²/2
        return cost is not None and not claim["symbol"] and claim["ratio"] is None and cost**2 / 2 <= factor
    if claim["symbol"] and cost is not None:
        return cost <= factor * (1 if epsilon is None else epsilon)
    if claim["symbol"]:
        return ratio is not None and (ratio <= 1 or (epsilon is not None and ratio <= lower_exp(factor * epsilon)))
    if claim["ratio"] is not None:
        limit = Fraction(claim["ratio"])
        return ratio <= limit if ratio is not None else cost is not None and upper_exp(cost) <= limit
    return ratio <= lower_exp(factor) if ratio is not None else cost is not None and cost <= factor


def lower_exp(x: Fraction) -> Fraction:
    """A number a little below e^x."""
    return _exp(x) * (1 - Fraction(1, 10**40))


def upper_exp(x: Fraction) -> Fraction:
    """A number a little above e^x."""
    return _exp(x) * (1 + Fraction(1, 10**40))


def _exp(x: Fraction) -> Fraction:
    context = Context(prec=60)
    return Fraction(context.exp(context.divide(Decimal(x.numerator), Decimal(x.denominator))))
