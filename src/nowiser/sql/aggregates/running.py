"""SUM(COUNT(*)) OVER (ORDER BY key): how many rows up to each value of a key.

Window functions over rows are refused; this one is over groups, and what it adds up is released anyway. Noise added
group by group would pile up along the sum (32 times at 1,024 steps). So the steps are measured together: by the
square root of the running sum under Gaussian noise (3.3 times), where the policy has a δ, else as a tree.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from nowiser.sql.aggregates.histograms import Histogram
from nowiser.sql.read.expressions.bind import Binder, spelled
from nowiser.sql.read.expressions.reasons import ROW_WINDOWS, WINDOWS
from nowiser.sql.read.text.parse import place
from nowiser.sql.tree import Aggregate, Expression, Grouped

if TYPE_CHECKING:
    from nowiser.sql.plan.plan import Plan


def read(node: exp.Expr, after: Binder, rows: Binder, condition: Expression | None = None) -> Aggregate | None:
    """The running count a window stands for; None if the node is no window. Raises NotAnswerable."""
    if not isinstance(node, exp.Window):
        return None
    total = node.this
    if not isinstance(total, exp.Sum) or not isinstance(total.this, exp.Count):
        name = spelled(total.this if isinstance(total, exp.WithinGroup) else total).lower()
        hint = WINDOWS.get(name, "GROUP BY; SUM(COUNT(*)) OVER (ORDER BY key) is answered.")
        if node.args.get("partition_by") and node.args.get("order"):
            hint = ROW_WINDOWS
        raise after.refuse(node, "Window functions look at single rows and are not answered.", hint)
    after.only(node, "this", "order", "over", "spec")
    spec, order = node.args.get("spec"), node.args.get("order")
    if spec is not None and spec.sql().upper() not in _FROM_THE_FIRST:
        raise after.refuse(node, "A running sum goes from the first group to the current one.", "Leave out ROWS.")
    rows.only(total.this, "this", "big_int")
    if not isinstance(total.this.this, exp.Star):
        raise after.refuse(node, "Running sums are answered of COUNT(*).", "SUM(COUNT(*)) OVER (ORDER BY key)")
    if order is None:
        raise after.refuse(
            node,
            "Sums over all groups are not answered beside them.",
            "GROUP BY ROLLUP (key): the row without a key is the total, and shares are computed from it.",
        )
    if len(order.expressions) != 1:
        raise after.refuse(node, "A running sum goes along one key.", "SUM(COUNT(*)) OVER (ORDER BY key)")
    (by,) = order.expressions
    after.only(by, "this", "desc", "nulls_first")
    if not isinstance(after.bind(by.this), Grouped):
        raise after.refuse(node, "A running sum goes along the key of the groups.", "ORDER BY the column of GROUP BY.")
    return Aggregate("running", None, condition, place(node, rows.scope.text), descending=bool(by.args.get("desc")))


def from_the_first(node: exp.Window) -> bool:
    """Whether it adds up everything to the current row."""
    spec = node.args.get("spec")
    return spec is None or spec.sql().upper() in _FROM_THE_FIRST


_FROM_THE_FIRST = {
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS UNBOUNDED PRECEDING",
    "RANGE UNBOUNDED PRECEDING",
}


def in_order(plan: "Plan", histogram: Histogram) -> NDArray[np.int64]:
    """The groups by rising key; the buckets of a running sum."""
    assert not histogram.grouped
    keys = [g[0] for g in plan.groups]
    return np.array(sorted(range(len(keys)), key=lambda i: (keys[i] is None, keys[i])), dtype=np.int64)
