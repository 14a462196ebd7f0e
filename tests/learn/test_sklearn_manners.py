"""Models in scikit-learn's company: clone, pipelines, its own checks; searches are refused with the reason."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.learn.wrong import Unsuitable

sklearn = pytest.importorskip("sklearn")
ROWS = np.random.default_rng(0).uniform(-1, 1, (3000, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)

# Checks that do not apply, with the reason.
NOISE = "two fits differ: noise comes from the system"
TOTAL = "whether a fit succeeds would tell about the data"
EXCEPTIONS = {
    "check_fit_idempotent": NOISE,
    "check_classifier_data_not_an_array": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_int": NOISE,
    "check_methods_subset_invariance": NOISE,
    "check_estimators_empty_data_messages": TOTAL,
    "check_supervised_y_no_nan": TOTAL,
    "check_class_weight_classifiers": "a weight above 1 would cost more than the row",
    "check_dtype_object": "our words for what is no number are others",
    "check_supervised_y_2d": "a column is taken without a warning",
    "check_transformer_preserve_dtypes": "bins are whole numbers",
}


@pytest.mark.parametrize(
    "model",
    [
        nw.learn.LogisticRegression(rho=50, bounds=(-10, 10), classes="public", steps=10),
        nw.learn.LinearRegression(rho=50, bounds=(-10, 10), target=(-300, 300)),
        nw.learn.NaiveBayes(rho=50, bounds=(-10, 10), classes="public"),
        nw.learn.Network(rho=50, bounds=(-10, 10), classes="public", steps=10, hidden=4),
        nw.learn.Standardise(rho=50, bounds=(-10, 10)),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn_pass_but_for_those_that_are_named(model):
    from sklearn.utils.estimator_checks import check_estimator

    found = check_estimator(model, on_skip=None, on_fail=None)
    failed = {r["check_name"]: str(r["exception"]) for r in found if r["status"] == "failed"}
    assert set(failed) <= set(EXCEPTIONS), failed
    assert sum(r["status"] == "passed" for r in found) >= 30


def test_clone_and_parameters():
    model = nw.learn.Boosting(rho=0.1, bounds=(-1, 1), classes=[0, 1], rounds=3)
    again = sklearn.base.clone(model)
    assert again is not model
    assert again.get_params() == model.get_params()
    assert repr(again) == "Boosting(rho=0.1, bounds=(-1, 1), classes=[0, 1], rounds=3)"
    with pytest.raises(Unsuitable, match="no parameter 'round'"):
        model.set_params(round=3)


def test_a_pipeline_whose_steps_pay_for_themselves():
    from sklearn.pipeline import make_pipeline

    scale = nw.learn.Standardise(rho=5, bounds=(-1, 1))
    model = nw.learn.LogisticRegression(rho=5, bounds=scale.outgoing, classes=[0, 1])
    steps = make_pipeline(scale, model).fit(ROWS, LABELS)
    assert steps.score(ROWS, LABELS) > 0.95
    assert scale.rho_ + model.rho_ == 10


@pytest.mark.parametrize("jobs", [None, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore")
def test_searches_are_refused_with_the_reason(jobs):
    from sklearn.model_selection import GridSearchCV, cross_val_score

    model = nw.learn.NaiveBayes(rho=1, bounds=(-1, 1), classes=[0, 1])
    with pytest.raises(ValueError, match="100 times what one fit says"):
        GridSearchCV(model, {"bins": [5, 10]}, cv=2, n_jobs=jobs, error_score="raise").fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="again and again on the same people"):
        cross_val_score(model, ROWS, LABELS, cv=2, error_score="raise")


def test_a_model_that_was_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted yet"):
        nw.learn.KMeans(rho=1, bounds=(0, 1)).predict(ROWS)
