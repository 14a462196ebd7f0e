"""Gradient boosting, one column at a time, on noisy histograms: a sum of one curve for each column, which can be drawn.

Each step looks at one column. It releases, for every bin of it, the sum of what the model still gets wrong, under
noise, and moves the curve of that column against it. A row is in one bin of each column, so a step costs what one
residual costs, however many bins there are. How far a bin is moved is post-processing: little where few rows are.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from nowiser.learn.bins import Sample, classes_in_bins, summed
from nowiser.learn.estimator import BinnedClassifier
from nowiser.learn.logistic import probabilities, residuals
from nowiser.learn.rows import WEIGHT, Floats
from nowiser.learn.spending import Spending

FINE = 1 << 20  # curves are whole numbers of 1/FINE, so that scores add up exactly
COUNTING = Fraction(1, 10)  # share of the budget for how many rows of each class are in each bin


@dataclass(eq=False, kw_only=True, repr=False)
class Boosting(BinnedClassifier):
    """Explainable boosting: scores are sums of one curve for each column, step functions over `bins` bins.

    rounds: how often each column is visited. rate: how far towards the best step each visit moves.
    prior: how large curves are thought to be, in units of the score; what is smaller than its noise is not followed.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000)[:, None]
    >>> model = Boosting(rho=0.1, bounds=(-1, 1), classes=["no", "yes"]).fit(
    ...     X, np.where(abs(X[:, 0]) < 0.5, "yes", "no")
    ... )
    >>> model.predict([[0.0], [0.9]]).tolist()
    ['yes', 'no']
    """

    rounds: int = 8
    rate: float = 0.5
    bins: int = 20
    prior: float = 0.7

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        sample = self._in_bins(table, y, groups, int(self.bins))
        counts = classes_in_bins(sample, spending, spending.share(COUNTING))
        self.curves_, self.start_ = self._boosted(sample, counts, spending)
        return self._closed(spending)

    def _boosted(self, sample: Sample, counts: list[Floats], spending: Spending) -> tuple[list[Floats], Floats]:
        codes, labels = sample.codes, sample.labels
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        start = _start(counts)
        curves = [np.zeros((len(c), outputs), dtype=np.int64) for c in counts]
        scores = np.tile(np.rint(start * FINE).astype(np.int64), (len(labels), 1))
        steepness = [_steepness(c, outputs) for c in counts]
        share = np.full(len(self.classes_), WEIGHT)
        rho = spending.left / (int(self.rounds) * len(curves))
        reach = Fraction(1 if outputs == 1 else 2) * WEIGHT**2
        deviation = spending.deviation(reach, rho) / WEIGHT
        for _ in range(int(self.rounds)):
            for k, steep in enumerate(steepness):
                exact = summed(codes[:, k], len(steep), residuals(scores / FINE, labels, share))
                wrong = spending.noisy("residuals", exact, reach, rho) / WEIGHT
                step = np.rint(FINE * self._step(wrong, steep, deviation)).astype(np.int64)
                curves[k] -= step
                scores -= step[codes[:, k]]
        return [c / FINE for c in curves], start

    def _step(self, wrong: Floats, steep: Floats, deviation: float) -> Floats:
        """How far to move each bin: to the best place, less the nearer the noise is to what there is to gain."""
        hold = self.rate * deviation**2 / (self.prior**2 * steep)
        return np.asarray(np.clip(self.rate * wrong / (steep + hold), -1.0, 1.0))

    def decision_function(self, table: Any) -> Floats:
        """Scores: of the second class where there are two, else one for each class."""
        self._check_fitted(table)
        codes = self.bins_.codes(table)
        scores = self.start_ + sum(curve[codes[:, k]] for k, curve in enumerate(self.curves_))
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict_proba(self, table: Any) -> Floats:
        return probabilities(self.decision_function(table))

    def curves(self) -> list[dict[str, Any]]:
        """For every column: its bins in words, and what each adds to the score, or to that of each class."""
        domain = self._check_fitted()
        return [
            {"feature": name, "bins": self.bins_.labels(k), "score": _plain(self.curves_[k])}
            for k, name in enumerate(domain.names)
        ]

    def chart(self) -> Any:
        """The curves, drawn: one picture for each column, the one that matters most first."""
        from nowiser.report.charts.shapes import shapes

        several = len(self.classes_) > 2
        return shapes(self.curves(), [str(c) for c in self.classes_] if several else [str(self.classes_[1])])


def _plain(curve: Floats) -> Any:
    return curve[:, 0].tolist() if curve.shape[1] == 1 else curve.tolist()


def _start(counts: list[Floats]) -> Floats:
    """Scores of a row of which nothing is known."""
    total = np.maximum(np.mean([c.sum(axis=0) for c in counts], axis=0), 1.0)
    logs = np.log(total)
    return np.array([logs[1] - logs[0]]) if len(logs) == 2 else logs - logs.mean()


def _steepness(counts: Floats, outputs: int) -> Floats:
    """How many residuals a unit of the score moves in each bin: n·p·(1 − p), of noisy counts; never near zero."""
    kept = np.maximum(counts, 0.0)
    total = kept.sum(axis=1, keepdims=True) + 1.0
    share = (kept + 1 / counts.shape[1]) / total
    steep = total * share * (1 - share)
    return np.asarray(np.maximum(steep[:, 1:] if outputs == 1 else steep, 1.0))
