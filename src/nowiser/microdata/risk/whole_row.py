"""The attacker who reads the whole row: other columns tell about the sensitive one too.

Independent noise on several columns that depend on one another cancels in part, and a column that was not
perturbed may tell more than the noisy one; two columns may tell together what neither tells alone. So beside Bayes
for the column alone stand several attackers who read everything in the released row:

* `linear`: the best linear prediction (numbers as normal scores, categories as indicators);
* `naive Bayes`: the columns as if they were independent given the value;
* `trees`: boosted trees (scikit-learn, the extra `rows`);
* `subsets`: for every one, two and three columns, what is commonest among the rows that agree on them.

Each learns from one half of the rows and is tried on the other, and the other way round.
Whoever has found the row learns from the truth, who knows only quasi-identifiers from the release, through the matrix
that is published with it. Which one is best
is decided within the half that is learnt from. What they reach is a lower bound: a better attacker may exist.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from nowiser.microdata.perturb.normal_scores import explaining
from nowiser.microdata.risk.best_guess import Floats, Goal, Ints, best_window, drawn
from nowiser.microdata.risk.channel import Channel, Matrix
from nowiser.microdata.risk.linking import shared_codes
from nowiser.microdata.table.arrays import dense
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

MOST_ROWS = 20_000
MOST_COLUMNS = 30
SUBSETS = 150  # of columns, the small ones first
BINS = 12  # a number is read by its quantile among so many
TREE_CLASSES = 30  # beyond, boosted trees take too long

Half = npt.NDArray[np.bool_]  # the rows that are learnt from
Attack = Callable[[Half], Floats]  # guesses for all rows, learnt from these


def whole_row(
    original: MicroTable, released: MicroTable, goal: Goal, random: np.random.Generator
) -> tuple[int, int] | None:
    """How many of how many rows the best attacker guesses right; None where there is too little to learn from."""
    names = [n for n in released.names if len(released[n].values) > 1]
    names = sorted(names, key=lambda n: n != goal.column)[:MOST_COLUMNS]
    rows = drawn(released.rows, MOST_ROWS, random)
    truth = _Truth.of(original[goal.column], released.origin[rows], goal)
    return _best((released, names, rows), truth, truth, random)


def by_quasi(
    original: MicroTable, released: MicroTable, quasi: Sequence[str], goal: Goal, channel: Channel
) -> tuple[int, int] | None:
    """The same for who knows the quasi-identifiers and nothing of the truth: he learns from the release alone.

    Columns are used that the release shows as they are, or recoded: of them he knows his victim's. He may ignore
    any of them, so rare combinations do not drown him.
    """
    kept = [q for q in quasi if q in released and len(released[q].values) > 1]
    kept = [q for q in kept if recoded(original, released, q)][:MOST_COLUMNS]
    random = np.random.default_rng(0)
    rows = drawn(released.rows, MOST_ROWS, random)
    truth = _Truth.of(original[goal.column], released.origin[rows], goal)
    shown = _Truth.of(original[goal.column], released.origin[rows], goal, released[goal.column], rows)
    shown.decode = decoding(original[goal.column], channel, shown.classes)
    return _best((released, kept, rows), shown, truth, random)


def recoded(original: MicroTable, released: MicroTable, name: str) -> bool:
    """Whether every value was released as one value: whoever knows hers knows what to look for."""
    old, new = original[name].codes[released.origin].astype(np.int64) + 1, released[name].codes.astype(np.int64) + 1
    pairs = np.unique(old * (int(new.max(initial=0)) + 1) + new)
    return len(pairs) == len(np.unique(old))


def decoding(column: Column, channel: Channel, classes: int) -> Floats | None:
    """From shares of released categories to unbiased shares of true ones, where a matrix is published."""
    if not isinstance(channel, Matrix) or channel.chances.shape[1] != channel.chances.shape[2]:
        return None
    if set(column.labels) != set(channel.labels) or classes < len(channel.labels):
        return None  # by chance a value was released of nobody
    weight = np.bincount(channel.strata, minlength=len(channel.chances)) / max(1, len(channel.strata))
    at = [channel.labels.index(label) for label in column.labels]
    P = np.eye(classes)
    P[: len(at), : len(at)] = np.tensordot(weight, channel.chances, axes=1)[np.ix_(at, at)]
    return np.asarray(np.linalg.inv(P), dtype=np.float64) if np.linalg.cond(P) < 1e6 else None


def _best(
    seen: tuple[MicroTable, Sequence[str], Ints], shown: "_Truth", truth: "_Truth", random: np.random.Generator
) -> tuple[int, int] | None:
    """Attackers learn from what is `shown`, and are judged by the truth of the other half."""
    released, names, rows = seen
    few = [n for n in names if released[n].is_numeric or len(released[n].values) <= len(rows) // 20]
    if not few or len(rows) < 100:
        return None
    codes = np.column_stack([binned(released[n], rows) for n in few])
    X = np.column_stack([np.ones(len(rows)), explaining(released, few, rows)])
    half = random.permutation(len(rows)) < len(rows) // 2
    right = 0
    for fit in (half, ~half):
        inner = fit.copy()
        inner[np.flatnonzero(fit)[::3]] = False  # a third of the half decides which attacker is taken
        judged = fit & ~inner
        attacks = list(_attacks(X, codes, shown))
        scores = [shown.score(attack(inner), judged) for attack in attacks]
        best = attacks[int(np.argmax(scores))]
        right += int(truth.right(best(fit))[~fit].sum())
    return right, len(rows)


def _attacks(X: Floats, codes: Ints, truth: "_Truth") -> Iterator[Attack]:
    if len(X) >= 4 * X.shape[1]:
        yield lambda fit: linear(X, truth, fit)
    yield lambda fit: naive_bayes(codes, truth, fit)
    if truth.classes <= TREE_CLASSES or truth.within is not None:
        yield lambda fit: trees(codes, truth, fit)
    yield lambda fit: subsets(codes, truth, fit)


class _Truth:
    """What is to be guessed: a class, or a number within a distance (then read in bins, and guessed by its window)."""

    def __init__(self, classes: Ints, numbers: Floats, within: float | None) -> None:
        self.codes, self.numbers, self.within = classes, numbers, within
        self.classes = int(classes.max(initial=0)) + 1
        self.decode: Floats | None = None

    @staticmethod
    def of(column: Column, owner: Ints, goal: Goal, seen: Column | None = None, rows: Ints | None = None) -> "_Truth":
        """What is true of the owners; or, in the same numbering, what is `seen` in these rows of the release."""
        if goal.within is None:
            codes = column.codes[owner].astype(np.int64)
            if seen is not None:
                codes = shared_codes(column, seen)[1][rows]
            missing = len(column.values) + (0 if seen is None else len(seen.values))
            return _Truth(np.where(codes < 0, missing, codes), np.zeros(len(owner)), None)
        numbers = column.numbers[owner] if seen is None else seen.numbers[rows]
        width = max(2 * goal.within, 1e-12)
        low = np.nanmin(numbers) if np.isfinite(numbers).any() else 0.0
        place = np.where(np.isfinite(numbers), np.floor((np.nan_to_num(numbers) - low) / width), -1)
        return _Truth(dense(place.astype(np.int64))[0], numbers, goal.within)

    def right(self, guess: Floats) -> Half:
        if self.within is None:
            return np.asarray(guess == self.codes, dtype=bool)
        return np.asarray(np.abs(self.numbers - guess) <= self.within * (1 + 1e-12), dtype=bool)

    def score(self, guess: Floats, where: Half) -> float:
        """How many are right, or, behind a matrix, an unbiased estimate of it."""
        if self.decode is None:
            return float(self.right(guess)[where].sum())
        return float(self.decode[self.codes[where], guess[where].astype(np.int64)].sum())

    def commonest(self, rows: Ints) -> float:
        """The best single guess for these rows."""
        if self.within is None:
            return float(np.bincount(self.codes[rows]).argmax())
        values = np.sort(self.numbers[rows])
        values = values[np.isfinite(values)]
        return best_window(values, np.ones(len(values)), self.within)[0] if len(values) else float("nan")

    def guesses(self, shares: Floats, fit: Half) -> Floats:
        """From beliefs in classes to guesses: the likeliest class, or the best number in it."""
        best = (shares if self.decode is None else shares @ self.decode).argmax(axis=1)
        if self.within is None:
            return np.asarray(best, dtype=np.float64)
        of = np.array(
            [
                self.commonest(rows) if len(rows := np.flatnonzero(fit & (self.codes == c))) else np.nan
                for c in range(self.classes)
            ]
        )
        return np.asarray(of[best], dtype=np.float64)


def binned(column: Column, rows: Ints) -> Ints:
    """What is read of a column: its category, or the quantile of a number; missing is one more."""
    codes = column.codes[rows].astype(np.int64)
    if not column.is_numeric or len(column.values) <= BINS:
        return dense(codes)[0]
    numbers = column.numbers[rows]
    edges = np.unique(np.nanquantile(numbers, np.arange(1, BINS) / BINS))
    return dense(np.where(np.isfinite(numbers), np.searchsorted(edges, np.nan_to_num(numbers), side="right"), -1))[0]


def linear(X: Floats, truth: _Truth, fit: Half) -> Floats:
    ridge = 1e-6 * len(X) * np.eye(X.shape[1])
    solve = np.linalg.solve(X[fit].T @ X[fit] + ridge, X[fit].T)
    if truth.within is None:
        return truth.guesses(X @ (solve @ np.eye(truth.classes)[truth.codes[fit]]), fit)
    known = np.isfinite(truth.numbers)
    beta = solve @ np.where(known, truth.numbers, np.nanmean(truth.numbers[fit]))[fit]
    rest = np.sort((truth.numbers - X @ beta)[fit & known])
    shift = best_window(rest, np.full(len(rest), 1.0), truth.within)[0] if len(rest) else 0.0
    return np.asarray(X @ beta + shift, dtype=np.float64)


def naive_bayes(codes: Ints, truth: _Truth, fit: Half) -> Floats:
    prior = np.bincount(truth.codes[fit], minlength=truth.classes) + 0.5
    belief = np.repeat(np.log(prior / prior.sum())[None, :], len(codes), axis=0)
    for j in range(codes.shape[1]):
        width = int(codes[:, j].max()) + 1
        flat = truth.codes[fit] * width + codes[fit, j]
        table = np.bincount(flat, minlength=truth.classes * width).reshape(truth.classes, width) + 0.5
        belief += np.log(table / table.sum(axis=1, keepdims=True)).T[codes[:, j]]
    belief = np.exp(belief - belief.max(axis=1, keepdims=True))
    return truth.guesses(belief / belief.sum(axis=1, keepdims=True), fit)


def trees(codes: Ints, truth: _Truth, fit: Half) -> Floats:
    """Boosted trees over the columns; without scikit-learn the commonest guess."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return np.full(len(codes), truth.commonest(np.flatnonzero(fit)))
    present, label = np.unique(truth.codes[fit], return_inverse=True)
    if not 2 <= len(present) <= TREE_CLASSES:
        return np.full(len(codes), truth.commonest(np.flatnonzero(fit)))
    learner = HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8, early_stopping=False, random_state=0)
    learner.fit(codes[fit], label)
    shares = np.zeros((len(codes), truth.classes))
    shares[:, present] = learner.predict_proba(codes)
    return truth.guesses(shares, fit)


def subsets(codes: Ints, truth: _Truth, fit: Half) -> Floats:
    """The columns whose combinations tell most, up to three at once, chosen where they were not learnt from."""
    learnt = np.flatnonzero(fit)
    inner = fit.copy()
    inner[learnt[1::3]] = False
    judged = fit & ~inner
    every = [c for size in (1, 2, 3) for c in combinations(range(codes.shape[1]), size)][:SUBSETS]
    best = max(every, key=lambda c: truth.score(looked_up(codes[:, c], truth, inner), judged))
    return looked_up(codes[:, best], truth, fit)


def looked_up(codes: Ints, truth: _Truth, fit: Half) -> Floats:
    """What is commonest among the rows that agree on these columns; among all where nobody does."""
    widths = codes.max(axis=0) + 1
    key, count = dense(np.ravel_multi_index(tuple(codes.T), tuple(int(w) for w in widths)))
    table = np.bincount(key[fit] * truth.classes + truth.codes[fit], minlength=count * truth.classes)
    shares = table.reshape(count, truth.classes) + np.bincount(truth.codes[fit], minlength=truth.classes) / len(key)
    return truth.guesses(shares[key] / shares[key].sum(axis=1, keepdims=True), fit)
