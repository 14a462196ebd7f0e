"""An answer as a data frame, with its error bars as columns of their own."""

from math import ceil, inf
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.extras import extra
from nowiser.report.answer import MOMENTS, Answer
from nowiser.sql.answer.vectors import listed


def noisy(answer: Answer) -> list[bool]:
    """For each column whether it has an error bar to show: not where it is exact, nor a text of which none is known."""
    return [_has_bar(answer, i) for i in range(len(answer.columns))]


def _has_bar(answer: Answer, i: int) -> bool:
    bar = answer.error[i]
    if bar == 0.0:
        return False
    if isinstance(bar, list):
        return any(bar)
    return bar is not None or any(_is_number(v) for v in values(answer, i))


def values(answer: Answer, i: int) -> list[Any]:
    return [] if answer.values is None else listed(answer.values[i])


def bars(answer: Answer, i: int) -> list[float | None]:
    """The half-widths of a column, row by row; None where not known, or where there is no value."""
    bar, column = answer.error[i], values(answer, i)
    every = bar if isinstance(bar, list) else [bar] * len(column)
    return [None if v is None or e is None else float(e) for v, e in zip(column, every, strict=True)]


def interval(answer: Answer) -> dict[str, list[tuple[Any, Any] | None]]:
    """Lowest and highest of each number and noisy date; where two columns share a name, of the last one."""
    found: dict[str, list[tuple[Any, Any] | None]] = {}
    for i, name in enumerate(answer.columns):
        column = values(answer, i)
        if any(_is_number(v) for v in column):
            pairs = zip(column, bars(answer, i), strict=True)
            low, high = answer.range_of(i) or (-inf, inf)
            found[name] = [None if e is None else (max(low, float(v) - e), min(high, float(v) + e)) for v, e in pairs]
        elif answer.kind_of(i) in MOMENTS and _has_bar(answer, i):
            pairs = zip(column, bars(answer, i), strict=True)
            found[name] = [None if e is None else _around(v, e, answer.kind_of(i)) for v, e in pairs]
    return found


def _around(value: str, bar: float, kind: str) -> tuple[str, str]:
    """The dates so many days, or the times so many seconds, before and after one."""
    at, away = np.datetime64(value.replace(" ", "T")), np.timedelta64(ceil(bar), "D" if kind == "date" else "s")
    return str(at - away).replace("T", " "), str(at + away).replace("T", " ")


def arrow(answer: Answer, *, errors: bool = True) -> Any:
    pa = extra("pyarrow")
    _refuse_explained(answer)
    names: list[str] = []
    arrays = []
    shown, taken = noisy(answer), set(answer.columns)
    for i, name in enumerate(answer.columns):
        assert answer.values is not None
        column = answer.values[i]
        names.append(name)
        arrays.append(pa.array(listed(column) if column.dtype == object else column))
        if errors and shown[i]:
            names.append(_error_name(name, taken))
            arrays.append(pa.array(bars(answer, i), type=pa.float64()))
    return pa.Table.from_arrays(arrays, names=names)


def pandas(answer: Answer, *, errors: bool = True) -> Any:
    pd = extra("pandas")
    table = arrow(answer, errors=errors)
    frame = pd.DataFrame({i: table.column(i).to_pandas() for i in range(table.num_columns)})
    return frame.set_axis(table.column_names, axis=1)


def polars(answer: Answer, *, errors: bool = True) -> Any:
    pl = extra("polars")
    table = arrow(answer, errors=errors)
    names: list[str] = []
    for name in table.column_names:  # Polars wants every name once
        again = names.count(name) + sum(n.startswith(f"{name}_") for n in names)
        names.append(name if name not in names else f"{name}_{again}")
    return pl.from_arrow(table.rename_columns(names))


def _error_name(name: str, taken: set[str]) -> str:
    """`<column>_error`, with underscores behind it where the answer has such a column already."""
    found = f"{name}_error"
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _refuse_explained(answer: Answer) -> None:
    if answer.values is None:
        raise Misconfigured("What `explain` gives has no rows.", hint="Ask with `query`, then make a frame of it.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
