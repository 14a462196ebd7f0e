"""All rules together: which construct of SQL becomes which call."""

from sqlglot import exp

from nowiser.sql.read.expressions import constructs, constructs_soft, constructs_text, constructs_time
from nowiser.sql.read.expressions.constructs import Rule

RULES: dict[type[exp.Expr], Rule] = {
    **constructs.RULES,
    **constructs_soft.RULES,
    **constructs_text.RULES,
    **constructs_time.RULES,
}
