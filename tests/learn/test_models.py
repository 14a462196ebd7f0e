"""Models learn, keep scikit-learn's manners, read nothing from the data for free, and come back from their files."""

import json

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.learn.wrong import Unsuitable
from support.learning import aimed_at, every_model, some_rows

NAMES = sorted(every_model())
CLASSIFIERS = [n for n in NAMES if every_model()[n].kind == "classifier"]
TABLE, LABELS, TARGETS = some_rows(4000)
NEW, NEW_LABELS, NEW_TARGETS = some_rows(2000, seed=1)


LARGER = {  # than those that are replayed on neighbours: of 60 fits each the worst is right in 88 % of cases
    "LogisticRegression": {"steps": 40},
    "RandomForest": {"trees": 20},
    "Network": {"hidden": 8, "steps": 40},
}


def fitted(name, rho=2.0):
    model = every_model(rho)[name]
    model.set_params(**LARGER.get(name, {}))
    return model.fit(TABLE, aimed_at(every_model()[name], LABELS, TARGETS))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_is_right_about_people_it_has_not_seen(name):
    model = fitted(name)
    baseline = max(NEW_LABELS.mean(), 1 - NEW_LABELS.mean())
    assert model.score(NEW, NEW_LABELS) > baseline + 0.2
    assert np.allclose(model.predict_proba(NEW).sum(axis=1), 1)


def test_a_regression_predicts():
    assert fitted("LinearRegression").score(NEW, NEW_TARGETS) > 0.9


def test_so_much_noise_that_nothing_can_be_learned_is_no_error():
    for name in NAMES:
        model = fitted(name, rho=1e-9)
        assert model.rho_ == every_model(1e-9)[name].fit(TABLE, aimed_at(every_model()[name], LABELS, TARGETS)).rho_


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_nobody_is_no_error(name):
    """Whether a fit succeeds may not tell whether somebody is there."""
    nobody = {c: v[:0] for c, v in TABLE.items()}
    every_model()[name].fit(nobody, LABELS[:0])


@pytest.mark.parametrize("name", ["LogisticRegression", "Boosting", "NaiveBayes", "DecisionTree", "RandomForest"])
def test_several_classes(name):
    three = np.where(TABLE["b"] == "x", "p", np.where(TABLE["a"] > 5, "q", "r"))
    model = every_model(5.0)[name].set_params(classes=["p", "q", "r"])
    model.fit(TABLE, three)
    assert model.predict_proba(TABLE).shape == (4000, 3)
    assert model.score(TABLE, three) > 0.6


@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_from_its_file(name):
    model = fitted(name)
    again = nw.learn.from_json(model.to_json())
    ask = "predict_proba" if name in CLASSIFIERS else "predict" if hasattr(model, "predict") else "transform"
    assert np.array_equal(getattr(model, ask)(NEW), getattr(again, ask)(NEW))
    assert again.rho_ == model.rho_
    assert again.to_json() == model.to_json()


def test_a_file_of_another_version_or_of_something_else_is_refused():
    content = json.loads(fitted("PCA").to_json())
    with pytest.raises(Misconfigured, match="version 2"):
        nw.learn.from_json(json.dumps(content | {"nowiser_model": 2}))
    with pytest.raises(Misconfigured, match="no model is called"):
        nw.learn.from_json(json.dumps(content | {"model": "os"}))
    with pytest.raises(Misconfigured, match="damaged"):
        nw.learn.from_json(json.dumps(content | {"fitted": {"fit": 1}}))
    for text in ("", "{}", "[1]", "no"):
        with pytest.raises(Misconfigured, match="not a model"):
            nw.learn.from_json(text)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_no_rows(name):
    """Somebody's values, so many digits that they would be found."""
    table, labels, targets = some_rows(50)
    table["a"] = table["a"] + 1.23456789e-5
    text = every_model()[name].fit(table, aimed_at(every_model()[name], labels, targets)).to_json()
    assert not any(repr(float(v)) in text for v in table["a"])


def test_no_value_of_a_column_makes_a_fit_fail():
    strange = np.array([10**400, -(10**400), "x", None, float("nan"), True, 3], dtype=object)
    model = nw.learn.PCA(rho=1, bounds={"a": (0, 10), "b": (0, 1)}).fit({"a": strange, "b": strange})
    assert np.isfinite(model.transform({"a": strange, "b": strange})).all()


# -- nothing is read from the data for free ---------------------------------------------------------------------


def test_bounds_and_classes_are_asked_for_never_taken_from_the_data():
    rows = np.random.default_rng(0).uniform(0, 1, (20, 2))
    with pytest.raises(Unsuitable, match="bounds are missing"):
        nw.learn.PCA(rho=1).fit(rows)
    with pytest.raises(Unsuitable, match="classes are missing"):
        nw.learn.LogisticRegression(rho=1, bounds=(0, 1)).fit(rows, np.zeros(20))
    with pytest.raises(Unsuitable, match="target is missing"):
        nw.learn.LinearRegression(rho=1, bounds=(0, 1)).fit(rows, np.zeros(20))
    with pytest.raises(Misconfigured, match="rho=… or gain=…"):
        nw.learn.PCA(bounds=(0, 1)).fit(rows)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((1, 1), "smaller one first"),
        ((0, np.inf), "smaller one first"),
        ([(0, 1)], "describe 1 columns"),
        ("ab", "bounds must be"),
    ],
)
def test_bounds_that_are_none_are_refused(bounds, words):
    with pytest.raises(Unsuitable, match=words):
        nw.learn.PCA(rho=1, bounds=bounds, components=1).fit(np.zeros((5, 2)))


def test_columns_by_name():
    with pytest.raises(Unsuitable, match="must have the columns a, b"):
        nw.learn.PCA(rho=1, bounds={"a": (0, 1), "b": ["x"]}).fit({"a": [1.0]})
    with pytest.raises(Unsuitable, match="bounds of 'a'"):
        nw.learn.PCA(rho=1, bounds={"a": 3}).fit({"a": [1.0]})


def test_rows_of_a_person_need_persons():
    with pytest.raises(Unsuitable, match="groups"):
        nw.learn.PCA(rho=1, bounds=(0, 1), rows_per_person=2).fit(np.zeros((5, 2)))


def test_class_weights_count_rows_less_and_never_more():
    common = {"rho": 50, "bounds": {"a": (0, 10)}, "classes": [0, 1]}
    seen = {"a": TABLE["a"]}
    even = nw.learn.LogisticRegression(**common).fit(seen, LABELS).predict(seen).mean()
    less = nw.learn.LogisticRegression(class_weight={1: 0.1}, **common).fit(seen, LABELS).predict(seen).mean()
    assert less < even - 0.1
    with pytest.raises(Unsuitable, match="between 0 and 1"):
        nw.learn.LogisticRegression(class_weight={1: 2}, **common).fit(seen, LABELS)


# -- what can be looked at ---------------------------------------------------------------------------------------


def test_a_tree_can_be_read():
    rules = fitted("DecisionTree").rules()
    assert any("a < " in r or "a >= " in r for r in rules)
    assert all("%" in r for r in rules)


def test_curves_of_boosting_can_be_drawn():
    model = fitted("Boosting")
    assert [c["feature"] for c in model.curves()] == ["a", "b", "c"]
    rising = model.curves()[0]["score"]
    assert rising[-1] > rising[0]
    drawn = json.dumps(model.chart().to_dict())
    assert all(f'"text": "{name}"' in drawn for name in ("a", "b", "c"))
    assert '"other"' in drawn


def test_transformers_do_what_they_say():
    rows = np.random.default_rng(2).normal(3, 0.5, (4000, 2))
    scaled = nw.learn.Standardise(rho=5, bounds=(0, 10)).fit_transform(rows)
    assert np.allclose(scaled.mean(axis=0), 0, atol=0.1)
    assert np.allclose(scaled.std(axis=0), 1, atol=0.1)
    bins = nw.learn.QuantileBins(rho=5, bounds=(0, 10), bins=4).fit_transform(rows)
    assert (np.bincount(bins[:, 0], minlength=4) > 800).all()


def test_k_means_finds_what_is_there():
    random = np.random.default_rng(4)
    centres = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]])
    rows = np.clip(centres[random.integers(3, size=6000)] + random.normal(0, 0.03, (6000, 2)), 0, 1)
    model = nw.learn.KMeans(rho=1, bounds=(0, 1), clusters=3).fit(rows)
    assert len(np.unique(model.predict(centres))) == 3


def test_principal_components_find_the_direction():
    random = np.random.default_rng(5)
    rows = np.clip(random.normal(0, 0.4, (5000, 1)) * [[1.0, 1.0, 0.0]] + random.normal(0, 0.02, (5000, 3)), -1, 1)
    model = nw.learn.PCA(rho=1, bounds=(-1, 1), components=1).fit(rows)
    assert abs(model.components_[0] @ [0.5**0.5, 0.5**0.5, 0]) > 0.99
