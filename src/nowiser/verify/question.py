"""What is asked about a program: its private argument, what neighbours are, its publics, and the claim."""

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.verify import tree as t
from nowiser.verify.verdict import after

EPSILONS = ("eps", "epsilon", "ε")
NEIGHBOURS = "one, one by 2, one arbitrary, all, all by 1/2 or length"


@dataclass(frozen=True)
class Neighbours:
    """`one` element changes, `all` do, or the `length` does by one; `by` at most, None: arbitrarily."""

    kind: str
    by: Fraction | None = Fraction(1)

    @property
    def text(self) -> str:
        if self.kind == "length":
            return "one element more or less"
        who = "one element changes" if self.kind == "one" else "every element changes"
        return f"{who} arbitrarily" if self.by is None else f"{who} by at most {self.by}"

    def __str__(self) -> str:
        if self.kind == "length" or self.by == 1:
            return self.kind
        return f"{self.kind} arbitrary" if self.by is None else f"{self.kind} by {self.by}"


@dataclass(frozen=True)
class Claim:
    """At most `factor`·ε (a symbol), or the number `factor`, or ln `ratio`. kind: `eps` or `rho`."""

    factor: Fraction
    symbol: str = ""
    ratio: Fraction | None = None
    kind: str = "eps"
    delta: Fraction = Fraction(0)

    @property
    def nats(self) -> float:
        """At ε = 1 where it is symbolic."""
        return math.log(self.ratio) if self.ratio is not None else float(self.factor)

    @property
    def guess_nats(self) -> float:
        """What lifts a guess of 50 % to the ceiling; for ρ and δ to the best guess on average."""
        if self.kind == "eps" and not self.delta:
            return self.nats
        if self.kind == "rho":
            best = 0.5 + 0.5 * min(
                1.0, math.sqrt(self.nats / 2)
            )  # Pinsker: the Kullback–Leibler divergence is ρ at most
        else:
            best = after(self.nats) + float(self.delta) / (1 + math.exp(min(700.0, self.nats)))
        return 1000.0 if best >= 1 else math.log(best / (1 - best))

    def __str__(self) -> str:
        name = {"eps": "ε", "rho": "ρ"}[self.kind]
        if self.ratio is not None:
            said = f"{name} = ln {self.ratio}"
        elif self.symbol:
            said = "ε" if self.factor == 1 else f"{self.factor}·ε"
            said = f"{name} = {said}" if self.kind == "rho" else said
        else:
            said = f"{name} = {float(self.factor):.6g}"
        return f"{said}, δ = {float(self.delta):.3g}" if self.delta else said


@dataclass(frozen=True)
class Question:
    """symbol: the parameter that is ε, or empty; numbers: publics that are given; others are symbols.

    listed: the private argument is a list; whole: its values are whole numbers.
    """

    program: t.Program
    private: str
    listed: bool
    whole: bool
    neighbours: Neighbours
    claim: Claim
    symbol: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "function": self.program.name,
            "private": self.private,
            "listed": self.listed,
            "whole": self.whole,
            "neighbours": str(self.neighbours),
            "symbol": self.symbol,
            "public": {name: said(value) for name, value in self.numbers.items()},
        }

    @property
    def guess(self) -> float:
        return after(self.claim.nats)


def ask(  # noqa: PLR0917
    program: t.Program,
    private: str | None = None,
    neighbours: str = "one",
    epsilon: str | float | Fraction | None = None,
    rho: str | float | Fraction | None = None,
    delta: float | Fraction = 0,
    public: Mapping[str, Any] | None = None,
    *,
    whole: bool | None = None,
) -> Question:
    """A question about the program. Without epsilon and rho the claim is the program's own `eps`."""
    public = dict(public or {})
    if private is None:
        private = program.parameters[0] if program.parameters else ""
    if private not in program.parameters:
        names = ", ".join(program.parameters) or "none"
        raise Misconfigured(f"no argument {private!r} to be private; {program.name} has {names}")
    for name in public:
        if name not in program.parameters or name == private:
            raise Misconfigured(f"no public argument {name!r}; {program.name} has {', '.join(program.parameters)}")
    symbols = [p for p in program.parameters if p in EPSILONS and p not in public]
    symbol = symbols[0] if symbols else ""
    claim = _claim(program, epsilon, rho, delta, symbol, public)
    numbers = {name: _number(value, name) for name, value in public.items()}
    for name, value in program.defaults:
        if name not in {private, symbol}:
            numbers.setdefault(name, value)
    kind = dict(program.kinds).get(private, "")
    whole = _whole_kind(kind) if whole is None else whole
    if private == symbol:
        raise Misconfigured(f"{private} is ε, not private", hint=f"--private {program.parameters[-1]}")
    listed = _listed(program, private, kind)
    return Question(program, private, listed, whole, _neighbours(neighbours), claim, claim.symbol, numbers)


def _claim(  # noqa: PLR0917
    program: t.Program,
    epsilon: str | float | Fraction | None,
    rho: str | float | Fraction | None,
    delta: float | Fraction,
    symbol: str,
    public: Mapping[str, Any],
) -> Claim:
    if epsilon is not None and rho is not None:
        raise Misconfigured("state epsilon or rho, not both")
    exact_delta = Fraction(str(delta)) if isinstance(delta, float) else Fraction(delta)
    if not 0 <= exact_delta < 1:
        raise Misconfigured("delta must be at least 0 and below 1")
    kind, given = ("eps", epsilon) if rho is None else ("rho", rho)
    if kind == "rho" and exact_delta:
        raise Misconfigured("delta goes with epsilon, not with rho")
    if given is None:
        named = [p for p in program.parameters if p in EPSILONS]
        if not named:
            raise Misconfigured("say what is claimed", hint="--eps 1, --eps eps, --eps 2*eps or --rho 0.5")
        given = named[0]
    text = str(given).strip()
    if text.startswith(("ln(", "log(")) and text.endswith(")"):
        ratio = _number(text[text.index("(") + 1 : -1], "the claim")
        if ratio <= 1:
            raise Misconfigured(f"the claim {text!r} must be above 0")
        return Claim(Fraction(0), "", ratio, kind, exact_delta)
    try:
        power, factor = _monomial(ast.parse(text, mode="eval").body, symbol, public)
    except (SyntaxError, ValueError, ZeroDivisionError):
        raise Misconfigured(f"the claim {text!r} is not understood", hint="eps, 2*eps, eps/2, 0.5 or ln(3)") from None
    if factor <= 0:
        raise Misconfigured(f"the claim {text!r} must be above 0")
    return Claim(factor, symbol if power else "", None, kind, exact_delta)


def _monomial(node: ast.expr, symbol: str, public: Mapping[str, Any]) -> tuple[int, Fraction]:
    """The power of ε (0 or 1) and the factor."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return 0, Fraction(str(value))
        case ast.Name(id=name) if name in public:
            return 0, _number(public[name], name)
        case ast.Name(id=name) if name == symbol or (symbol and name in EPSILONS):
            return 1, Fraction(1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (p, a), (q, b) = _monomial(left, symbol, public), _monomial(right, symbol, public)
            if p + q <= 1:
                return p + q, a * b
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            (p, a), (q, b) = _monomial(left, symbol, public), _monomial(right, symbol, public)
            if not q:
                return p, a / b
    raise ValueError


def _neighbours(text: str) -> Neighbours:
    words = text.replace(",", " ").split()
    match words:
        case ["length"]:
            return Neighbours("length", None)
        case ["one" | "all" as kind]:
            return Neighbours(kind)
        case ["one" | "all" as kind, "arbitrary" | "arbitrarily"]:
            return Neighbours(kind, None)
        case ["one" | "all" as kind, "by", amount]:
            by = _number(amount, "neighbours")
            if by > 0:
                return Neighbours(kind, by)
    raise Misconfigured(f"neighbours {text!r} are not known", hint=NEIGHBOURS)


def _listed(program: t.Program, private: str, kind: str) -> bool:
    """Whether the private argument is a list: by its annotation, or by how it is used."""
    if kind:
        return "list" in kind.lower() or "sequence" in kind.lower()
    return any(_as_list(node, private) for node in walk(program.body)) or any(
        isinstance(node, t.Use)
        and any(
            isinstance(a, t.Name) and a.name == private and _listed(f, f.parameters[i], "")
            for f in program.functions
            if f.name == node.function
            for i, a in enumerate(node.arguments)
        )
        for node in walk(program.body)
    )


def _whole_kind(kind: str) -> bool:
    """Whether an annotation allows nothing but whole numbers: `list[int]`, not `list[int | float]` or `Point`."""
    names = set(re.findall(r"\w+", kind))
    return bool(names & {"int", "bool"}) and names <= {"int", "bool", "list", "List", "Sequence", "typing"}


def _as_list(node: Any, name: str) -> bool:
    def named(e: Any) -> bool:
        return isinstance(e, t.Name) and e.name == name

    match node:
        case t.Item(of=of) | t.Slice(of=of):
            return named(of)
        case t.For(over=over) | t.Comprehension(over=over):
            return named(over)
        case t.Call(function="len" | "sum", arguments=[only]):
            return named(only)
        case t.Call(function="min" | "max", arguments=[only]):
            return named(only)
        case t.Sample(kind="choose", arguments=[only]):
            return named(only)
    return False


def walk(node: Any) -> Any:
    """Every node of a tree."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif hasattr(node, "__dataclass_fields__"):
        yield node
        for name in node.__dataclass_fields__:
            yield from walk(getattr(node, name))


def _number(value: Any, name: str) -> Any:
    if isinstance(value, (list, tuple)):
        return [_number(v, name) for v in value]
    try:
        if isinstance(value, str) and value.startswith("["):
            return [_number(v.strip(), name) for v in value.strip("[]").split(",")]
        return Fraction(str(value)) if isinstance(value, (str, float)) else Fraction(value)
    except (ValueError, TypeError, ZeroDivisionError):
        raise Misconfigured(f"{name} must be a number, not {value!r}") from None


def said(value: Any) -> Any:
    return [said(v) for v in value] if isinstance(value, list) else str(value)


def claim_json(question: Question) -> dict[str, Any]:
    c = question.claim
    ratio = None if c.ratio is None else str(c.ratio)
    return {"kind": c.kind, "factor": str(c.factor), "symbol": c.symbol, "ratio": ratio, "delta": str(c.delta)}


def difference(certificate: Mapping[str, Any], program: t.Program, options: Mapping[str, Any]) -> str:
    """In which of the options that were given (others are None) a certificate answers another question, or nothing."""
    theirs, claim = certificate["question"], certificate["claim"]
    stated = {name: value for name, value in options.items() if value is not None}
    claimed = stated.keys() & {"epsilon", "rho", "delta"}
    asked = ask(
        program,
        stated.get("private", theirs["private"]),
        stated.get("neighbours", theirs["neighbours"]),
        stated.get("epsilon", None if claimed else 1),
        stated.get("rho"),
        stated.get("delta", 0),
        stated.get("public", theirs["public"]),
        whole=stated.get("whole", theirs["whole"]),
    )
    ours = asked.to_json()
    found = [name for name in ("private", "neighbours", "whole") if ours[name] != theirs[name]]
    if "public" in stated and any(theirs["public"].get(n) != v for n, v in ours["public"].items()):
        found.append("public")
    return ", ".join([*found, *(["claim"] if claimed and claim_json(asked) != claim else [])])
