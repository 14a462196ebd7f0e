"""What all models have in common: scikit-learn's manners, a budget, and nothing read from the data for free.

A model is a dataclass whose fields are its parameters; what `fit` finds ends in an underscore. scikit-learn itself is
not needed. Trying settings on the data (`GridSearchCV`, `cross_val_score`) is refused: every fit is another release.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.bins import Bins, Sample
from nowiser.learn.domain import Category, Domain, Number, matrix, numbers
from nowiser.learn.rows import Floats, Whole
from nowiser.learn.spending import Spending, described, silent, total_rho
from nowiser.learn.wrong import Unsuitable, not_fitted

PUBLIC = "public"  # classes that may be taken from the labels, because everybody knows them


@dataclass(eq=False, kw_only=True, repr=False)
class Estimator:
    """A budget and public facts about the columns.

    rho: what one person's rows may cost, zero-concentrated; or gain: how much more often an attacker may be right who
    guesses whether somebody was in the table.
    bounds: what is known about the columns without looking at the data.
    rows_per_person: so many rows of one person count, the first ones; `groups` of `fit` says whose each row is.
    """

    rho: float | Fraction | None = None
    gain: float | Fraction | None = None
    bounds: Any = None
    rows_per_person: int = 1

    kind = "transformer"
    jump = 4  # what μ² is multiplied by where a person is replaced: 2 where rows are only counted
    tried_on = 10_000  # made-up rows, before it is paid for

    # -- scikit-learn's manners ------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (no model holds another)
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def set_params(self, **params: Any) -> Self:
        known = {f.name for f in fields(self)}
        for name, value in params.items():
            if name not in known:
                raise Unsuitable(f"no parameter {name!r}; there are {', '.join(sorted(known))}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        told = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(told)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        needs = self.kind in {"classifier", "regressor"}
        return Tags(
            estimator_type=self.kind if self.kind != "transformer" else None,
            target_tags=TargetTags(required=needs),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags(poor_score=True) if self.kind == "classifier" else None,
            regressor_tags=RegressorTags(poor_score=True) if self.kind == "regressor" else None,
            input_tags=InputTags(allow_nan=True),
            non_deterministic=True,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rho_")

    # -- what a fit begins and ends with --------------------------------------------------------------------

    def _opened(self) -> Spending:
        """The purse of one fit."""
        _refuse_searches()
        if self.rows_per_person < 1:
            raise Unsuitable(f"rows_per_person must be a whole number of at least 1, found {self.rows_per_person!r}")
        return Spending(total_rho(self.rho, self.gain), self.rows_per_person, told=getattr(self, "_told", silent))

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows. Costs `rho` once more, each time it is called."""
        raise NotImplementedError

    def hearing(self, told: Callable[[float, str], None]) -> Self:
        """Tell, while fitting, which share of the budget is spent, and on what."""
        self._told = told
        return self

    def _domain_of(self, table: Any) -> Domain:
        """The domain, and scikit-learn's notes about the columns."""
        named = isinstance(self.bounds, dict | Domain)
        width = 0 if named else matrix(table).shape[1]
        if not named and width == 0:
            raise Unsuitable(f"0 feature(s) (shape={np.shape(table)}) while a minimum of 1 is required.")
        domain = Domain.of(self.bounds, width)
        self.n_features_in_ = len(domain.kinds)
        names = getattr(table, "columns", None)
        if names is not None and all(isinstance(n, str) for n in names):
            self.feature_names_in_ = np.array(list(names), dtype=object)
        return domain

    def _counted(self, groups: Any, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows count: those that are known, the first ones of each person."""
        if groups is None:
            if self.rows_per_person != 1:
                raise Unsuitable("rows_per_person is more than 1, and nothing says whose each row is: give groups=…")
            return known
        people = np.asarray(groups)
        if people.shape != known.shape:
            raise Unsuitable(f"groups must name a person for each of {len(known)} rows, found shape {people.shape}")
        order = np.argsort(people, kind="stable")
        first = np.flatnonzero(np.r_[True, people[order][1:] != people[order][:-1]])
        place = np.arange(len(known)) - np.repeat(first, np.diff(np.r_[first, len(known)]))
        found = known.copy()
        found[order[place >= self.rows_per_person]] = False
        return found

    def _closed(self, spending: Spending) -> Self:
        self.rho_ = spending.spent
        self.cost_ = described(spending.bought)
        return self

    def _check_fitted(self, table: Any = None) -> Domain:
        if not hasattr(self, "rho_"):
            raise not_fitted(type(self).__name__)
        domain: Domain = self.domain_  # type: ignore[attr-defined]
        if table is not None and not domain.named and (found := matrix(table).shape[1]) != self.n_features_in_:
            name = type(self).__name__
            raise Unsuitable(f"X has {found} features, but {name} is expecting {self.n_features_in_} features as input")
        return domain

    def to_json(self) -> str:
        """The fitted model as text; `nw.learn.from_json` reads it back. It holds what was released, no rows."""
        from nowiser.learn.saved import to_json

        self._check_fitted()
        return to_json(self)


@dataclass(eq=False, kw_only=True, repr=False)
class Classifier(Estimator):
    """classes: the possible labels. They are public, so they are listed; "public" takes them from the labels."""

    classes: Sequence[Any] | str | None = None

    kind = "classifier"

    def _labels(self, y: Any) -> Whole:
        """The place of each label among the classes; −1 for any other, which does not count."""
        labels = column(y)
        if isinstance(self.classes, str) and self.classes == PUBLIC:
            if labels.dtype.kind == "f" and not all(float(v).is_integer() for v in labels if np.isfinite(v)):
                raise Unsuitable("Unknown label type: continuous; classes are needed, not measurements")
            self.classes_ = np.unique(labels)
        elif self.classes is None or isinstance(self.classes, str) or len(self.classes) == 0:
            raise Unsuitable(
                "classes are missing: which labels there are must be known without looking at the data",
                hint="For example classes=[0, 1]; or classes='public' if everybody knows which ones are in y.",
            )
        else:
            self.classes_ = np.array(list(self.classes))
        if len(self.classes_) < 2:
            raise Unsuitable(f"{type(self).__name__} needs at least two classes, and there is one class only")
        return Category(tuple(self.classes_.tolist())).codes(labels)

    def predict_proba(self, table: Any) -> Floats:
        """How likely each class is, in the order of `classes_`."""
        raise NotImplementedError

    def predict(self, table: Any) -> NDArray[Any]:
        place = np.argmax(self.predict_proba(table), axis=1)
        found: NDArray[Any] = self.classes_[place]
        return found

    def score(self, table: Any, y: Any, sample_weight: Any = None) -> float:
        """The share that is predicted right. Asked about the rows it was fitted on, this is not private."""
        right = (self.predict(table) == np.asarray(y)).astype(np.float64)
        return float(np.average(right, weights=sample_weight))


@dataclass(eq=False, kw_only=True, repr=False)
class BinnedClassifier(Classifier):
    """One that sees columns as bins."""

    def _in_bins(self, table: Any, y: Any, groups: Any, many: int) -> Sample:
        """The rows that count."""
        if many < 2:
            raise Unsuitable(f"bins must be at least 2, found {many}")
        domain = self._domain_of(table)
        labels = self._labels(y)
        same_length(domain.count(table), labels)
        chosen = self._counted(groups, labels >= 0)
        self.bins_, self.domain_ = Bins.even(domain, many), domain
        return Sample(self.bins_.codes(table)[chosen], labels[chosen], len(self.classes_), self.bins_)


@dataclass(eq=False, kw_only=True, repr=False)
class Regressor(Estimator):
    """target: the range of what is predicted."""

    target: tuple[float, float] | None = None

    kind = "regressor"

    def _targets(self, y: Any) -> tuple[Number, Floats, NDArray[np.bool_]]:
        """The range, each target from −1 to 1, and which of them are there."""
        if self.target is None:
            raise Unsuitable(
                "target is missing: the range of what is predicted must be known without looking at the data",
                hint="For example target=(0, 30). Values beyond are clipped.",
            )
        low, high = self.target
        known = Number(float(low), float(high))
        values = numbers(column(y))
        middle, half = (known.low + known.high) / 2, (known.high - known.low) / 2
        return known, (known.floats(values) - middle) / half, ~np.isnan(values)

    def predict(self, table: Any) -> Floats:
        raise NotImplementedError

    def score(self, table: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance that is predicted. Of the rows it was fitted on it is not private."""
        truth = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        off = weights @ (truth - self.predict(table)) ** 2
        return float(1 - off / (weights @ (truth - np.average(truth, weights=weights)) ** 2))


def column(y: Any) -> NDArray[Any]:
    """Labels or targets as one column."""
    if y is None:
        raise Unsuitable("requires y to be passed, but the target y is None")
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise Unsuitable(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    return found


def same_length(rows: int, y: NDArray[Any]) -> None:
    if len(y) != rows:
        raise Unsuitable(f"the table has {rows} rows, and y has {len(y)}: inconsistent numbers of samples")


def _refuse_searches() -> None:
    """Searches and cross-validations fit many times, and each fit is another release of the same rows."""
    frame: Any = sys._getframe(1)  # noqa: SLF001 (there is no other way to know who calls)
    while frame is not None:
        if frame.f_code.co_name == "_fit_and_score" and "sklearn" in frame.f_globals.get("__name__", ""):
            raise Unsuitable(
                "GridSearchCV and cross-validation fit the model again and again on the same people: 5 folds of 20 "
                "settings would cost 100 times what one fit says",
                hint="Choose settings on public or synthetic rows, or hold back rows once and score one model on them.",
            )
        frame = frame.f_back
