"""What attackers are taken to believe, from every form a policy can state it in."""

import math

import pytest

from nowiser.errors import Misconfigured
from nowiser.model.prior import Atoms, Categories, Histogram, LogNormal, Normal, Presence, Truncated, Uniform, Unknown
from nowiser.policy import parse


def prior(column: str, goal: str = "present in t", **files):
    text = (
        f"nowiser: 1\ntables:\n  t:\n    person: p\n    columns:\n      p: identifier\n      x: {column}\n"
        f"attackers: [{{guess: {goal}, gain: 5%}}]\n"
    )
    return parse(text, files.get("path", "nowiser.yaml")).priors["t.x"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("{sensitive: [0, 60]}", Unknown(0, 60)),
        ("{sensitive: [0, 60], prior: unknown}", Unknown(0, 60)),
        ("{sensitive: text}", Unknown()),
        ("{sensitive: [a, b]}", Unknown()),
        ("{sensitive: [0, 60], prior: uniform}", Uniform(0, 60)),
        ("{sensitive: [0, 60], prior: {uniform: [12, 28]}}", Uniform(12, 28)),
        ("{sensitive: [0, 20], prior: {uniform: [12, 28]}}", Truncated(Uniform(12, 28), 0, 20)),
        ("{sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}", Truncated(Normal(20, 5), 0, 60)),
        ("{sensitive: real, prior: {normal: {mean: 20, sd: 5}}}", Normal(20, 5)),
        ("{sensitive: [0, 60], prior: {lognormal: {mean: 3, sd: 1}}}", Truncated(LogNormal(3, 1), 0, 60)),
        ("{sensitive: [0, 60], prior: {histogram: {edges: [0, 20, 60], weights: [1, 3]}}}", Histogram([0, 20, 60], [0.25, 0.75])),
        ("{sensitive: [a, b], prior: uniform}", Categories({"a": 0.5, "b": 0.5})),
        ("{sensitive: [a, b], prior: {categories: {b: 3, a: 1}}}", Categories({"b": 0.75, "a": 0.25})),
        ("{sensitive: boolean, prior: {categories: {true: 10%, false: 90%}}}", Categories({True: 0.1, False: 0.9})),
        ("{sensitive: [1, 2, 4], prior: uniform}", Atoms({1: 1 / 3, 2: 1 / 3, 4: 1 / 3})),
        ("{sensitive: [1, 2, 4], prior: {categories: {1: 1, 2: 0, 4: 1}}}", Atoms({1: 0.5, 4: 0.5})),
        ("{sensitive: [1, 4], kind: integer, prior: uniform}", Atoms({1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25})),
        ("{sensitive: [0, 9], kind: integer, prior: {uniform: [1, 4]}}", Atoms({1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25})),
        ("{sensitive: [1970-01-01, 1970-01-04], prior: uniform}", Atoms({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25})),
        ("{sensitive: [0, 100000], kind: integer, prior: uniform}", Uniform(0, 100000)),
    ],
)  # fmt: skip
def test_forms(column, expected):
    assert prior(column) == expected


def test_whole_numbers_get_the_mass_around_them():
    found = prior("{sensitive: [0, 40], kind: integer, prior: {normal: {mean: 20, sd: 5}}}")
    assert isinstance(found, Atoms)
    masses = dict(zip(found.values.tolist(), found.masses.tolist(), strict=True))
    assert math.isclose(sum(masses.values()), 1)
    inside = 0.5 * math.erfc(-20.5 / 5 / math.sqrt(2)) - 0.5 * math.erfc(20.5 / 5 / math.sqrt(2))
    assert math.isclose(masses[20], math.erf(0.1 / math.sqrt(2)) / inside, rel_tol=1e-9)


def test_exactly_is_a_goal_for_whole_numbers_and_for_unknown_priors():
    assert isinstance(prior("{sensitive: [0, 40], kind: integer, prior: uniform}", "t.x exactly"), Atoms)
    assert isinstance(prior("{sensitive: [0, 40]}", "t.x exactly"), Unknown)
    with pytest.raises(Misconfigured, match="has no chance"):
        prior("{sensitive: [0, 40], prior: uniform}", "t.x exactly")


def test_an_interval_is_a_goal_for_any_number():
    assert isinstance(prior("{sensitive: [0, 40], prior: uniform}", '"t.x in [10, 20]"'), Uniform)


def test_empirical_priors_are_files_beside_the_policy(tmp_path):
    path = tmp_path / "nowiser.yaml"
    (tmp_path / "last.csv").write_text("x,other,word\n1,5,a\n1,6,b\n3,7,b\n99,8,b\n", encoding="utf-8")
    numbers = prior("{sensitive: [0, 40], prior: {empirical: last.csv}}", path=path)
    assert numbers == Atoms({1: 2 / 3, 3: 1 / 3})  # 99 is outside the declared range
    other = prior("{sensitive: [0, 40], prior: {empirical: {file: last.csv, column: other}}}", path=path)
    assert other.values.tolist() == [5, 6, 7, 8]
    words = prior("{sensitive: [a, b, c], prior: {empirical: {file: last.csv, column: word}}}", path=path)
    assert words == Categories({"a": 0.25, "b": 0.75, "c": 0})
    with pytest.raises(Misconfigured, match="no value of the file lies in the declared range"):
        prior("{sensitive: [50, 60], prior: {empirical: last.csv}}", path=path)
    with pytest.raises(Misconfigured, match="no column 'y'"):
        prior("{sensitive: [0, 60], prior: {empirical: {file: last.csv, column: y}}}", path=path)
    with pytest.raises(Misconfigured, match="not of kind real"):
        prior("{sensitive: [0, 60], prior: {empirical: {file: last.csv, column: word}}}", path=path)


def test_presence():
    text = (
        "nowiser: 1\ntables:\n  t:\n    person: p\n    presence: 2%\n    columns: {p: identifier}\n"
        "attackers: [{guess: present in t, gain: 5%}]\n"
    )
    assert parse(text).priors == {"t": Presence(0.02)}
    assert parse(text.replace("    presence: 2%\n", "")).priors == {"t": Unknown()}
