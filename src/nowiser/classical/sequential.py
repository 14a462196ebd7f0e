"""Sequential trees, as synthpop draws them: column by column, each given those before it.

The first column is drawn as it is distributed. For every further one a tree is grown on the real rows that predicts it
from the columns before; a drawn row falls into a leaf, and the value of one of the real rows in that leaf is taken.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.classical.values import Codes
from nowiser.errors import Misconfigured
from nowiser.microdata.table.micro_table import MicroTable

LEAF = 5  # real rows in a leaf, at least
FEW = 20  # distinct values up to which a column is told apart, not averaged


def sequential(table: MicroTable, rows: int, random: np.random.Generator) -> list[Codes]:
    """The drawn codes of every column."""
    real = [c.codes for c in table.columns]
    drawn: list[Codes] = []
    for i, column in enumerate(table.columns):
        if i == 0:
            drawn.append(random.choice(real[0], rows).astype(np.int32))
            continue
        tree = _tree(column.is_numeric and column.distinct > FEW, int(random.integers(2**31)))
        target = column.codes
        tree.fit(np.column_stack(real[:i]), target)
        drawn.append(_donors(tree.apply(np.column_stack(real[:i])), tree.apply(np.column_stack(drawn)), target, random))
    return drawn


def _tree(number: bool, seed: int) -> Any:
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise Misconfigured("sequential trees need scikit-learn", hint="pip install nowiser[rows]") from None
    kind = DecisionTreeRegressor if number else DecisionTreeClassifier
    return kind(min_samples_leaf=LEAF, random_state=seed)


def _donors(leaves: NDArray[Any], wanted: NDArray[Any], values: Codes, random: np.random.Generator) -> Codes:
    """For each wanted leaf the value of one of the real rows in it, any of them alike."""
    order = np.argsort(leaves, kind="stable")
    there, first, many = np.unique(leaves[order], return_index=True, return_counts=True)
    at = np.searchsorted(there, wanted)
    place = first[at] + (random.random(len(wanted)) * many[at]).astype(np.int64)
    return np.asarray(values[order[place]], np.int32)
