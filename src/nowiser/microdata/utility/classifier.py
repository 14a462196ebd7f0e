"""A classifier trained on the release and tested on real rows: how much of its skill is kept?

The target is predicted from all other columns, once by a model trained on original rows and once by the same
model trained on released rows; both are tested on the same original rows, which neither was trained on (the
released rows that came from test rows are left out of training). AUC: the chance that a random case is ranked above a
random non-case; ½ is worthless, so what is kept is (AUC' − ½)/(AUC − ½).
"""

from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb.covariance import average_ranks
from nowiser.microdata.table.arrays import Floats
from nowiser.microdata.table.column import Column
from nowiser.microdata.utility.pair import Pair
from nowiser.microdata.utility.propensity import logistic
from nowiser.microdata.utility.regression import design

MOST_ROWS = 20_000


@dataclass(frozen=True)
class Classifier:
    target: str
    case: str  # what is predicted: "salary = >50K", "income > 100"
    original: float  # AUC
    released: float
    chance: float  # by how far a worthless classifier's AUC is off ½ (one standard deviation, Mann and Whitney)

    @property
    def kept(self) -> float | None:
        """The share of the skill. None where the original has none worth speaking of: below two deviations."""
        skill = self.original - 0.5
        return (self.released - 0.5) / skill if skill > 2 * self.chance else None


def classifier(pair: Pair, target: str, *, seed: int = 0) -> Classifier | None:
    """Logistic regression on the other columns and squares; None if the test rows are all of one class."""
    if target not in pair.columns:
        raise Misconfigured(f"the target {target!r} is not in both tables")
    old, new, _, owner = design(pair)
    used = [j for j, o in enumerate(owner) if o != target]
    if not used or len(pair.original[target].values) < 2:
        return None
    random = np.random.default_rng(seed)
    n = pair.original.rows
    rows = random.permutation(n)[: 2 * MOST_ROWS]
    test, train = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    case, truth = _case(pair.original[target])
    told = _told(pair.released[target], case, pair.original[target])
    safe = np.flatnonzero(~np.isin(pair.released.origin, test))
    safe = random.permutation(safe)[:MOST_ROWS]
    if len(old) != n or len(new) != pair.released.rows:
        return None  # thinned tables: rows no longer align
    scores = [_train(old[train][:, used], truth[train], old[test][:, used])]
    scores.append(_train(new[safe][:, used], told[safe], old[test][:, used]))
    if len(np.unique(truth[test])) < 2:
        return None
    a, b = (auc(s, truth[test]) for s in scores)
    cases, others = int(truth[test].sum()), int((~truth[test]).sum())
    return Classifier(target, case[0], a, b, float(((cases + others + 1) / (12 * cases * others)) ** 0.5))


def auc(score: Floats, truth: np.ndarray) -> float:
    """The chance that a case is ranked above a non-case, ties counting half."""
    ranks = average_ranks(score)
    cases = int(truth.sum())
    return float((ranks[truth].sum() - cases * (cases + 1) / 2) / (cases * (len(truth) - cases)))


def _case(column: Column) -> tuple[tuple[str, float | None], np.ndarray]:
    """What to predict: above the median for numbers, the most frequent category otherwise."""
    if column.is_numeric and len(column.values) > 2:
        middle = float(np.nanmedian(column.numbers))
        return (f"{column.name} > {middle:g}", middle), column.numbers > middle
    label = column.labels[int(np.argmax(column.counts()))]
    return (f"{column.name} = {label}", None), column.codes == int(np.argmax(column.counts()))


def _told(released: Column, case: tuple[str, float | None], original: Column) -> np.ndarray:
    if case[1] is not None:
        return np.asarray(released.numbers > case[1])
    label = original.labels[int(np.argmax(original.counts()))]
    return np.asarray(released.codes == (released.labels.index(label) if label in released.labels else -2))


def _train(X: Floats, y: np.ndarray, test: Floats) -> Floats:
    if len(np.unique(y)) < 2:
        return np.zeros(len(test))
    centre, spread = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    beta = logistic(_curved((X - centre) / spread), y.astype(np.float64))
    return np.asarray(_curved((test - centre) / spread) @ beta)


def _curved(X: Floats) -> Floats:
    """A constant, the columns, and their squares (bounded, so that an outlier does not rule)."""
    return np.column_stack([np.ones(len(X)), X, np.minimum(X**2, 9.0)])
