"""Functions of our own, which no SQL has a construct for: RAMP, DISTANCE."""

from sqlglot import exp

from nowiser.sql.read.expressions.between import reader
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.constructs import Rule
from nowiser.sql.tree import Expression

OURS = ("ramp", "distance")


def ours(b: Binder, node: exp.Anonymous) -> Expression:
    name = str(node.this).lower()
    if (between := reader(node)) is not None:
        return between(b, node)
    if name not in OURS:
        raise b.unknown(node)
    b.only(node, "this", "expressions")
    return b.call(name, node, *(b.real(b.bind(n)) for n in node.expressions))


RULES: dict[type[exp.Expr], Rule] = {exp.Anonymous: ours}
