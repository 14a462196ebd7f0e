"""`nowiser verify --check`: a certificate and a program in, what is proved out."""

import ast
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
    """What the certificate proves of this program, as a sentence. Raises Rejected if it proves nothing."""
    try:
        return _check(certificate, program)
    except Rejected:
        raise
    except Exception as error:  # whatever else happens while it is read and followed: nothing is proved
        raise Rejected(f"the certificate does not fit the program: {type(error).__name__}") from error


def _check(certificate: Mapping[str, Any], program: str) -> str:
    question, claim = certificate["question"], certificate["claim"]
    epsilon = None if certificate["epsilon"] is None else Fraction(certificate["epsilon"])
    said = sentence(question, claim, epsilon, program)
    if certificate.get("composed") is not None:
        cost, most = check_composed(certificate["composed"], program, question, _check)
        if epsilon is not None or not within(claim, cost=cost):
            raise Rejected("the cost is larger than the claim")
        return said.format(_lengths(question, most))
    if certificate.get("every") is not None:
        cost = check_every(certificate["every"], program, question, epsilon)
        if not within(claim, cost=cost, epsilon=epsilon):
            raise Rejected("the cost is larger than the claim")
        return said.format(_lengths(question, None))
    sizes = certificate["sizes"]
    if not sizes:
        raise Rejected("there is no proof in it")
    if [s["size"] for s in sizes] != list(range(1, len(sizes) + 1)):
        raise Rejected("a length is missing")
    if not question["listed"] and (len(sizes) != 1 or question["neighbours"] == "length"):
        raise Rejected("one number has one length")
    symbolic = epsilon is None and question["symbol"] != ""
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
    return said.format(_lengths(question, len(sizes)))


def _lengths(question: Mapping[str, Any], most: int | None) -> str:
    if not question["listed"]:
        return ""
    return f" for lists of {'every length' if most is None else f'up to {most}'}"


def sentence(question: Mapping[str, Any], claim: Mapping[str, Any], epsilon: Fraction | None, program: str) -> str:
    """Everything that is claimed, from the values that are checked; `{}` stands for the lengths."""
    name, private, symbol = question["function"], question["private"], question["symbol"]
    (function,) = (n for n in ast.parse(program).body if isinstance(n, ast.FunctionDef) and n.name == name)
    a = function.args
    parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    if private not in parameters or private == symbol or not {*question["public"]} <= {*parameters} - {private, symbol}:
        raise Rejected("the question is about other arguments than the function has")
    if claim["kind"] not in {"eps", "rho"} or claim["symbol"] not in {"", symbol} or symbol not in {"", *EPSILONS}:
        raise Rejected("the claim is not understood")
    if symbol == "" and epsilon is not None:
        raise Rejected("there is no ε to be a number")
    if symbol != "" and epsilon is None and claim["symbol"] == "":
        raise Rejected("the claim is a number, but costs are so many times ε")
    if claim["ratio"] is not None and (claim["symbol"] != "" or claim["kind"] != "eps"):
        raise Rejected("a ratio is claimed beside something else")
    if Fraction(claim["factor"]) < 0 or not 0 <= Fraction(claim["delta"]) < 1:
        raise Rejected("the claim is not understood")
    is_whole = " of whole numbers" if question["whole"] else ""
    what = f"a list{is_whole}" if question["listed"] else "a whole number" if question["whole"] else "a number"
    numbers = "".join(f"; {n} = {_said(v)}" for n, v in question["public"].items())
    sure = "" if epsilon is None else f" at ε = {epsilon}"
    about = f"private is {private}, {what}; {neighbours(question['neighbours'])}{numbers}"
    return f"{name} keeps {_claimed(claim)}{sure}{{}}: {about}"


EPSILONS = ("eps", "epsilon", "ε")


def neighbours(text: str) -> str:
    """What neighbours are, for people."""
    kind, _, by = text.partition(" ")
    if kind == "length" and not by:
        return "one element more or less"
    who = {"one": "one element changes", "all": "every element changes"}[kind]
    if by == "arbitrary":
        return f"{who} arbitrarily"
    limit = Fraction(by.removeprefix("by ") or 1)
    if limit <= 0:
        raise Rejected("neighbours that do not differ")
    return f"{who} by at most {limit}"


def _claimed(claim: Mapping[str, Any]) -> str:
    name = {"eps": "ε", "rho": "ρ"}[claim["kind"]]
    factor, delta = Fraction(claim["factor"]), Fraction(claim["delta"])
    if claim["ratio"] is not None:
        said = f"{name} = ln {Fraction(claim['ratio'])}"
    elif claim["symbol"]:
        said = name if factor == 1 else f"{factor}·{name}"
    else:
        said = f"{name} = {factor}"
    return f"{said}, δ = {delta}" if delta else said


def _said(value: Any) -> str:
    return f"[{', '.join(map(_said, value))}]" if isinstance(value, list) else str(Fraction(value))


def _paths(program: str, question: Mapping[str, Any], epsilon: Fraction | None, size: int) -> dict[int, Any]:
    module = read(program, question["function"])
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


LEAST_DELTA = Fraction(1, 10**250)  # below this floats say nothing


def within_gaussian(claim: Mapping[str, Any], rho: Fraction) -> bool:
    """Whether Gaussian noise of this ρ keeps a claim of ρ, or of ε with δ, given as numbers."""
    if claim["symbol"] or claim["ratio"] is not None:
        return False
    if claim["kind"] == "rho":
        return rho <= Fraction(claim["factor"])
    if Fraction(claim["delta"]) < LEAST_DELTA:
        return False
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
