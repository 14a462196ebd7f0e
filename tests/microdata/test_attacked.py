"""Every method, attacked: what a simulated attacker achieves lies within the printed before → after.

The attackers are written anew, on pandas, and use nothing of the package but the release and its codebook. A method
without a case here fails the first test. Each case has a *weaker* release (less noise, finer groups): held against the
figure printed for the stronger one it must be caught, so that a figure that is too low cannot pass.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import nowiser as nw
from nowiser.microdata import registry
from support.seeds import seed as seeded

ROWS = 4000
SURE = 1e-6  # chance that a true figure is called wrong
SLACK = 0.01  # for figures computed on 512 quantiles of a column
QUASI = ["age", "region"]


@dataclass(frozen=True)
class Case:
    """A step, a weaker one, what is guessed, and by whom (`groups`, `rows` or `ceiling`)."""

    step: Any
    weaker: Any
    column: str
    attack: str
    recipe: dict[str, Any] = field(default_factory=dict)


AGE = {"age": "intervals:5:10:20:40", "region": [["a", "*"], ["b", "*"], ["c", "*"], ["d", "*"]]}
FIVE = {"quasi": AGE, "models": {"k-anonymity": 60}, "suppress": "20%"}
PLAIN = {"quasi": AGE, "models": {"k-anonymity": 1}}
RESPONSE = {"table": "t", "column": "ill", "among": ["no", "flu", "asthma"]}


def kept(chance):
    return {a: {b: chance if a == b else (1 - chance) / 2 for b in RESPONSE["among"]} for a in RESPONSE["among"]}


CASES = {
    "generalise": Case({"generalise": {}}, PLAIN, "ill", "groups", FIVE),
    "mondrian": Case({"mondrian": {}}, PLAIN, "ill", "groups", FIVE),
    "local_recoding": Case({"local_recoding": {}}, PLAIN, "ill", "groups", FIVE),
    "cell_suppression": Case({"cell_suppression": {}}, PLAIN, "ill", "groups", FIVE),
    "record_suppression": Case({"record_suppression": {}}, PLAIN, "ill", "groups", FIVE | {"suppress": "100%", "models": {"k-anonymity": 60}}),
    "microaggregation": Case({"microaggregation": {"k": 50, "columns": ["age"]}}, PLAIN, "ill", "groups"),
    "top_bottom": Case({"top_bottom": {"column": "age", "top": 22}}, PLAIN, "ill", "groups"),
    "rounding": Case({"rounding": {"column": "age", "to": 20}}, PLAIN, "ill", "groups"),
    "pseudonym": Case({"pseudonym": {"column": "name", "key_env": "PSEUDONYM_KEY"}}, None, "ill", "groups", {"identifiers": ["name"]}),
    "noise": Case({"noise": {"columns": "income", "share": 0.5}}, {"noise": {"columns": "income", "share": 0.1}}, "income", "rows"),
    "correlated_noise": Case({"correlated_noise": {"columns": ["income", "rent"], "amount": 0.5}}, {"correlated_noise": {"columns": ["income", "rent"], "amount": 0.02}}, "income", "rows"),
    "rank_swap": Case({"rank_swap": {"columns": "income", "within": 0.3}}, {"rank_swap": {"columns": "income", "within": 0.03}}, "income", "rows"),
    "record_swap": Case({"record_swap": {"swap": "ill", "share": 0.6}}, {"record_swap": {"swap": "ill", "share": 0.1}}, "ill", "rows"),
    "shuffle": Case({"shuffle": {"columns": "income"}}, {"rank_swap": {"columns": "income", "within": 0.02}}, "income", "rows"),
    "resample": Case({"resample": {"columns": "income"}}, {"rank_swap": {"columns": "income", "within": 0.02}}, "income", "rows"),
    "sample": Case({"sample": {"share": 0.3}}, None, "ill", "rows"),
    "pram": Case({"pram": {"columns": "ill", "keep": 0.5}}, {"pram": {"columns": "ill", "keep": 0.9}}, "ill", "rows"),
    "randomised_response": Case({"randomised_response": {"columns": "ill", "keep": 0.4}}, {"randomised_response": {"columns": "ill", "keep": 0.85}}, "ill", "rows"),
    "private_noise": Case({"private_noise": {"table": "t", "column": "score", "low": 0, "high": 40, "scale": 20}}, {"private_noise": {"table": "t", "column": "score", "low": 0, "high": 40, "scale": 10}}, "score", "ceiling"),
    "private_response": Case({"private_response": RESPONSE | {"jump": 1.5}}, {"private_response": RESPONSE | {"jump": 2.5}}, "ill", "ceiling"),
    "private_pram": Case({"private_pram": {"table": "t", "column": "ill", "matrix": kept(0.6)}}, {"private_pram": {"table": "t", "column": "ill", "matrix": kept(0.8)}}, "ill", "ceiling"),
}  # fmt: skip


def people(seed=0):
    random = np.random.default_rng(seed)
    age = random.integers(20, 40, ROWS)
    ill = random.choice(["no", "flu", "asthma"], ROWS, p=[0.6, 0.3, 0.1])
    income = random.normal(3000 + 20 * age, 600)
    return pd.DataFrame(
        {
            "name": [f"n{i}" for i in range(ROWS)],
            "age": age,
            "region": random.choice(list("abcd"), ROWS),
            "ill": np.where((age < 26) & (random.random(ROWS) < 0.4), "asthma", ill),
            "income": income,
            "score": random.integers(0, 41, ROWS),
            "rent": 0.3 * income + random.normal(0, 100, ROWS),
        }
    )


def test_no_method_goes_without_an_attack():
    assert set(CASES) == set(registry.methods())


def interval(right, tried):
    low = beta.ppf(SURE / 2, right, tried - right + 1) if right else 0.0
    high = beta.ppf(1 - SURE / 2, right + 1, tried - right) if right < tried else 1.0
    return low, high


def released(frame, step, case, **more):
    recipe = {"quasi": QUASI} | case.recipe | more
    made = nw.publish(frame, sensitive=[case.column], steps=step and [step], seed=seeded(1), **recipe)
    return made.to_pandas(), frame.iloc[made.table.origin].reset_index(drop=True), made.chosen


def within_groups(out, truth, case, quasi, figures):
    """Knows the quasi-identifiers: in each group of look-alikes the guess that gains most; victims of the worst one."""
    column = case.column
    before = truth[column].value_counts(normalize=True)  # of the released rows: what the file shows as a whole
    shares = truth[column].groupby([out[q].astype(str) for q in quasi]).value_counts(normalize=True)
    lift = shares - before.reindex(shares.index.get_level_values(-1)).to_numpy()
    *where, guess = lift.idxmax()
    here = np.logical_and.reduce([out[q].astype(str) == value for q, value in zip(quasi, where, strict=True)])
    victims = np.random.default_rng(5).choice(np.flatnonzero(here), 20_000)
    right = int((truth[column].to_numpy()[victims] == guess).sum())
    (figure,) = [g for g in figures if g.column == column]
    low, high = interval(right, len(victims))
    return low <= figure.after <= high and figure.before == pytest.approx(before[guess])


def best_within(values, radius):
    ordered = np.sort(values)
    count = np.searchsorted(ordered, ordered + 2 * radius, side="right") - np.arange(len(ordered))
    return ordered[count.argmax()] + radius, count.max() / len(values)


def by_row(out, truth, case, figures, matrices):
    """Has found the row, or knows the quasi-identifiers: the best of several plain attackers, on every victim."""
    column, whole = case.column, people()
    told = {g.attacker: g for g in figures if g.column == column}
    for attacker in ("has found the victim's row", "knows the quasi-identifiers exactly"):
        figure = told[attacker]
        rights = {"prior": 0, "as it is": 0, "Bayes": 0}
        looks = out[column] if attacker.startswith("has") else None
        if figure.within is None:
            prior = whole[column].value_counts(normalize=True)
            if looks is None:  # what most of her look-alikes show
                key = [truth[q].astype(str) for q in QUASI]
                looks = out[column].groupby(key).transform(lambda s: s.value_counts().index[0])
            rights["prior"] = int((truth[column] == prior.index[0]).sum())
            rights["as it is"] = int((truth[column] == looks).sum())
            if matrices is not None and attacker.startswith("has"):
                names, P = matrices
                best = np.argmax(prior.reindex(names).to_numpy()[:, None] * np.array(P), axis=0)
                guess = out[column].map({y: names[best[j]] for j, y in enumerate(names)})
                rights["Bayes"] = int((truth[column] == guess).sum())
        else:
            if looks is None:
                key = [truth[q].astype(str) for q in QUASI]
                looks = out[column].groupby(key).transform(lambda s, r=figure.within: best_within(s.to_numpy(), r)[0])
            centre, _ = best_within(whole[column].to_numpy(), figure.within)
            spread = out[column].var() - truth[column].var()
            shrunk = truth[column].mean() + (looks - out[column].mean()) * min(
                1.0, truth[column].var() / out[column].var()
            )
            for name, guess in (("prior", centre), ("as it is", looks), ("Bayes", shrunk if spread > 0 else looks)):
                rights[name] = int((np.abs(truth[column] - guess) <= figure.within * (1 + 1e-9)).sum())
        low, high = interval(max(rights.values()), len(truth))
        most = figure.after if figure.high is None else figure.high
        if low > most + SLACK or high < figure.before - SLACK:
            return False
    return True


def at_the_ceiling(step, case, figures):
    """The worst prior on two values, a Bayes attacker, the output that tells most: reaches the ceiling, no more."""
    (figure,) = [g for g in figures if g.column == case.column]
    random = np.random.default_rng(3)
    secret = random.random(60_000) < figure.before
    numeric = case.column == "score"
    frame = people().sample(len(secret), replace=True, random_state=1).reset_index(drop=True)
    frame[case.column] = np.where(secret, 40, 0) if numeric else np.where(secret, "asthma", "no")
    out, truth, _ = released(frame, step, case)
    secret = (truth[case.column] == (40 if numeric else "asthma")).to_numpy()  # rows come out in another order
    telling = out[case.column] >= 40 if numeric else out[case.column] == "asthma"
    low, high = interval(int((secret & telling).sum()), int(telling.sum()))
    return low <= figure.after <= high


def withstands(step, case, figures):
    """Whether the figures describe what attackers achieve against the release that this step makes."""
    if case.attack == "ceiling":
        return at_the_ceiling(step, case, figures)
    frame = people()
    changed = step is case.step
    out, truth, chosen = released(
        frame,
        step if changed or "quasi" not in step else None,
        case,
        **(step if not changed and "quasi" in step else {}),
    )
    if case.attack == "groups":
        names = list(step["quasi"]) if not changed else QUASI
        return within_groups(out, truth, case, names, figures)
    book = chosen.steps[-1].codebook
    matrices = None
    if "columns" in book and "categories" in (page := book["columns"].get(case.column, {})):
        names = page["categories"]
        keep = book.get("keep")
        P = page["matrices"][0] if keep is None else np.full((3, 3), (1 - keep) / 3) + keep * np.eye(3)
        matrices = names, P
    return by_row(out, truth, case, figures, matrices)


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_an_attacker_achieves_is_what_is_printed(name, monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", "k" * 40)
    case = CASES[name]
    figures = released(people(), case.step, case)[2].guesses
    assert figures
    assert all(0 <= g.before <= g.after <= 1 for g in figures)
    assert withstands(case.step, case, figures)


@pytest.mark.parametrize("name", sorted(n for n, c in CASES.items() if c.weaker is not None))
def test_a_figure_of_more_protection_than_there_is_is_caught(name, monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", "k" * 40)
    case = CASES[name]
    figures = released(people(), case.step, case)[2].guesses
    assert not withstands(case.weaker, case, figures)


@pytest.mark.parametrize("name", sorted(n for n, c in CASES.items() if c.weaker is None))
def test_a_figure_that_is_too_low_is_caught(name, monkeypatch):
    """For methods that protect nothing by themselves there is no weaker release; a third less gain is claimed."""
    monkeypatch.setenv("PSEUDONYM_KEY", "k" * 40)
    case = CASES[name]
    figures = released(people(), case.step, case)[2].guesses
    low = [replace(g, after=g.after - g.gain / 3, high=g.high and g.high - g.gain / 3) for g in figures]
    assert not withstands(case.step, case, low)


def test_the_ceiling_is_that_of_the_worst_prior():
    """p = 1/(1 + e^(T/2)) and tanh(T/4) on top of it, for T = 40/20."""
    case = CASES["private_noise"]
    (figure,) = released(people(), case.step, case)[2].guesses
    assert figure.before == pytest.approx(1 / (1 + math.e))
    assert figure.after - figure.before == pytest.approx(math.tanh(0.5))


def test_noise_on_several_columns_is_attacked_through_all_of_them():
    """Rent is farthest from its middle for high and for low incomes: nothing a straight line would find."""
    frame = people()
    away = np.abs(frame["income"] - frame["income"].mean())
    frame["rent"] = away + np.random.default_rng(9).normal(0, 40, ROWS)
    case = Case({"correlated_noise": {"columns": ["income", "rent"], "amount": 0.3}}, None, "income", "rows")
    out, truth, chosen = released(frame, case.step, case)
    (figure,) = [g for g in chosen.guesses if g.attacker == "has found the victim's row"]
    assert figure.how == "Bayes"
    (page,) = chosen.steps[-1].codebook["strata"]
    A, noise = np.array(page["map"]), np.array(page["covariance of the noise"])

    def success(names):
        """Bayes with the published noise on these columns and the table's own rows, on every victim."""
        at = [["income", "rent"].index(n) for n in names]
        x, y = frame.sort_values("income")[names].to_numpy(), out[names].to_numpy()
        centre, incomes = frame[names].mean().to_numpy(), np.sort(frame["income"].to_numpy())
        shown = centre + (x - centre) @ A[np.ix_(at, at)].T
        precision = np.linalg.inv((A @ noise @ A.T)[np.ix_(at, at)])
        end = np.searchsorted(incomes, incomes + 2 * figure.within, side="right")
        right = 0
        for row in range(ROWS):
            weight = np.exp(-0.5 * np.einsum("ij,jk,ik->i", y[row] - shown, precision, y[row] - shown))
            total = np.concatenate([[0.0], np.cumsum(weight)])
            best = (total[end] - total[:-1]).argmax()
            right += incomes[best] <= truth["income"][row] <= incomes[end[best] - 1]
        return interval(int(right), ROWS)

    low, high = success(["income", "rent"])
    assert low <= figure.after <= high
    _, high = success(["income"])  # who reads the one column alone does worse: a figure for him would be too low
    assert high < figure.after
