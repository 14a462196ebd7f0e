"""The language of mechanism programs: a small frozen tree. What it cannot say is outside of the language.

Statements and expressions carry the line they stand on. Two sugars are gone by the time the tree stands: `x += e` is an
assignment, and a comprehension is a `Comprehension`. Samples are calls of the names in `SAMPLES`.
"""

from dataclasses import dataclass
from fractions import Fraction

# name → its arguments, as said in messages
SAMPLES = {
    "laplace": "scale",
    "discrete_laplace": "scale",
    "geometric": "scale",
    "exponential": "scale",
    "gaussian": "sigma",
    "uniform": "",
    "flip": "probability",
    "choose": "scores",  # i with probability proportional to e^scores[i]
}
FUNCTIONS = ("len", "range", "sum", "min", "max", "abs")


@dataclass(frozen=True)
class Number:
    """`real`: written as 2.0, which is no place in a list."""

    value: Fraction
    line: int
    real: bool = False


@dataclass(frozen=True)
class Truth:
    value: bool
    line: int


@dataclass(frozen=True)
class Name:
    name: str
    line: int


@dataclass(frozen=True)
class Arithmetic:
    """`operator` is one of + - * / // %, or += where a name is augmented (a list is written to)."""

    operator: str
    left: "Expression"
    right: "Expression"
    line: int


@dataclass(frozen=True)
class Comparison:
    """`operator` is one of < <= > >= == !=."""

    operator: str
    left: "Expression"
    right: "Expression"
    line: int


@dataclass(frozen=True)
class Logical:
    """`operator` is `and`, `or` or `not` (one part)."""

    operator: str
    parts: tuple["Expression", ...]
    line: int


@dataclass(frozen=True)
class Choice:
    """`yes if condition else no`."""

    condition: "Expression"
    yes: "Expression"
    no: "Expression"
    line: int


@dataclass(frozen=True)
class Listing:
    """`[a, b]` or `(a, b)`."""

    items: tuple["Expression", ...]
    line: int
    fixed: bool = False


@dataclass(frozen=True)
class Comprehension:
    """`[item for name in over]`."""

    item: "Expression"
    name: str
    over: "Expression"
    line: int


@dataclass(frozen=True)
class Item:
    """`of[index]`."""

    of: "Expression"
    index: "Expression"
    line: int


@dataclass(frozen=True)
class Slice:
    """`of[start:stop]`."""

    of: "Expression"
    start: "Expression | None"
    stop: "Expression | None"
    line: int


@dataclass(frozen=True)
class Call:
    """A function of `FUNCTIONS`."""

    function: str
    arguments: tuple["Expression", ...]
    line: int


@dataclass(frozen=True)
class Use:
    """A call of another function of the same file; `Program.functions` has it."""

    function: str
    arguments: tuple["Expression", ...]
    line: int


@dataclass(frozen=True)
class Sample:
    """A fresh random number; see `SAMPLES`."""

    kind: str
    arguments: tuple["Expression", ...]
    line: int


Expression = (
    Number
    | Truth
    | Name
    | Arithmetic
    | Comparison
    | Logical
    | Choice
    | Listing
    | Comprehension
    | Item
    | Slice
    | Call
    | Use
    | Sample
)


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expression
    line: int


@dataclass(frozen=True)
class AssignItem:
    """`name[index] = value`."""

    name: str
    index: Expression
    value: Expression
    line: int


@dataclass(frozen=True)
class Append:
    name: str
    value: Expression
    line: int


@dataclass(frozen=True)
class If:
    condition: Expression
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]
    line: int


@dataclass(frozen=True)
class While:
    condition: Expression
    body: tuple["Statement", ...]
    line: int


@dataclass(frozen=True)
class For:
    name: str
    over: Expression
    body: tuple["Statement", ...]
    line: int


@dataclass(frozen=True)
class Break:
    line: int


@dataclass(frozen=True)
class Return:
    value: Expression
    line: int


Statement = Assign | AssignItem | Append | If | While | For | Break | Return


@dataclass(frozen=True)
class Program:
    """One function: `source` is the text it was read from, for certificates and messages.

    kinds: the annotation of each parameter that has one, as text; defaults: numbers that stand in the signature;
    functions: what it calls, directly or not.
    """

    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]
    source: str
    kinds: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, Fraction], ...] = ()
    functions: tuple["Program", ...] = ()
