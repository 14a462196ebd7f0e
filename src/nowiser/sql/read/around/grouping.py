"""GROUPING SETS, ROLLUP and CUBE: which keys each of them groups by."""

from itertools import combinations, product

from sqlglot import exp

from nowiser.sql.read.source import Context

MOST_SETS = 64
MOST_KEYS = 20

Sets = tuple[tuple[int, ...], ...]


def grouping_sets(context: Context, group: exp.Group) -> tuple[list[exp.Expr], Sets | None]:
    """Every key written in GROUP BY, and the sets of their positions; None for one plain GROUP BY.

    `GROUP BY a, ROLLUP (b, c)` is the product of its parts, as the standard says: every set of one part with every
    set of the others.
    """
    for name, value in group.args.items():
        if name not in ("expressions", "rollup", "cube", "grouping_sets") and value not in (None, False, [], ()):
            raise context.refuse(group, f"GROUP BY {name.upper()} is not answered.", "Name the columns one by one.")
    keys: list[exp.Expr] = []
    parts: list[list[tuple[int, ...]]] = [[(_place(keys, e),)] for e in group.expressions if not _special(e)]
    special = [e for e in group.expressions if _special(e)]
    for name in ("rollup", "cube", "grouping_sets"):
        found = group.args.get(name)
        special += found if isinstance(found, list) else []
    for node in special:
        parts.append(_sets(context, node, keys))
        if len(parts[-1]) > MOST_SETS:
            raise context.refuse(group, f"There would be {len(parts[-1]):,} grouping sets.", f"At most {MOST_SETS}.")
    if not special:
        return keys, None
    total = 1
    for p in parts:
        total *= len(p)
    if total > MOST_SETS:
        raise context.refuse(group, f"There would be {total:,} grouping sets.", f"At most {MOST_SETS}.")
    return keys, tuple(tuple(i for one in chosen for i in one) for chosen in product(*parts))


def _special(node: exp.Expr) -> bool:
    return isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets)


def _place(keys: list[exp.Expr], node: exp.Expr) -> int:
    keys.append(node)
    return len(keys) - 1


def _sets(context: Context, node: exp.Expr, keys: list[exp.Expr]) -> list[tuple[int, ...]]:
    if isinstance(node, exp.GroupingSets):
        found: list[tuple[int, ...]] = []
        for one in node.expressions:
            found += _sets(context, one, keys) if _special(one) else [_together(one, keys)]
        return found
    units = [_together(e, keys) for e in node.expressions]
    if isinstance(node, exp.Rollup):
        return [tuple(i for u in units[:n] for i in u) for n in range(len(units), -1, -1)]
    if len(units) > 8:
        raise context.refuse(node, f"CUBE of {len(units)} columns has too many grouping sets.", f"At most {MOST_SETS}.")
    return [tuple(i for u in chosen for i in u) for n in range(len(units), -1, -1) for chosen in combinations(units, n)]


def _together(node: exp.Expr, keys: list[exp.Expr]) -> tuple[int, ...]:
    """One column, or several in brackets."""
    if isinstance(node, exp.Tuple):
        return tuple(_place(keys, e) for e in node.expressions)
    return (_place(keys, node.this if isinstance(node, exp.Paren) else node),)
