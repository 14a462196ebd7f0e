"""What DuckDB's optimiser may know of the data: nothing, unless the question is a plain one.

It reads the smallest and largest value of every column and simplifies expressions by them. What goes wrong there goes
wrong for some data and not for others, and can be seen: DuckDB 2.0 fails on `CASE WHEN cost > 900 THEN 'x' END = 'y'`
if nobody's cost is above 900, and on no other table. So expressions are left to a DuckDB that looks at no statistics.
Comparisons of columns with constants keep them: they decide which pages are read at all, and which groups fit in an
array, which is half the time by 10,000 keys.
"""

from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Call, Filter, Scan, parts

BLIND = {"disabled_optimizers": "statistics_propagation"}
PLAIN = {"=", "<>", "<", "<=", ">", ">=", "in", "is_null", "and", "or", "not"}


def plain(tally: Tally) -> bool:
    """Whether nothing but columns, constants and their comparisons stands in a tally over the rows of one table."""
    relation, said = tally.relation, [*tally.keys]
    while isinstance(relation, Filter):
        said.append(relation.condition)
        relation = relation.source
    for cell in tally.cells:
        said += [e for e in (cell.argument, cell.condition, cell.not_null, *cell.distinct) if e is not None]
    functions = {part.function for e in said for part in parts(e) if isinstance(part, Call)}
    return isinstance(relation, Scan) and functions <= PLAIN
