"""The figures sdcMicro prints for its own example data."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.risk.frequencies import Frequencies, frequencies
from nowiser.microdata.risk.household import household_risk
from nowiser.microdata.risk.individual import MEASURE, individual_risk
from nowiser.microdata.risk.uniques import uniques
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def test_francdat(real_data):
    table = load(real_data("sdcmicro/sdcmicro_francdat.csv"))
    found = frequencies(table, [table.names[i] for i in (1, 3, 4, 5)], table.names[7])
    assert found.sample.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    risk = individual_risk(found)
    wanted = [0.0171443, 0.0220423, 0.0220423, 0.1770758, 0.0116545, 0.2970631, 0.4023595, 0.0171443]
    assert risk == pytest.approx(wanted, abs=5e-8)
    assert risk.sum() == pytest.approx(0.9665260452, abs=1e-10)


def test_testdata(real_data):
    table = load(real_data("sdcmicro/sdcmicro_testdata.csv"))
    found = MEASURE(table, Roles(KEYS, weight="sampling_weight", household="ori_hid"))
    assert found["rows that are not 2-, 3-, 5-anonymous"] == [157, 281, 458]
    assert found["expected re-identifications"] == pytest.approx(10.7782989, abs=5e-8)
    assert found["expected re-identifications with households"] == pytest.approx(51.8129274, abs=5e-8)


@pytest.mark.parametrize("f", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("people", [1.0, 7.0, 300.0])
def test_exact_risk_is_the_posterior_mean_of_one_over_the_population(f, people):
    F = f * people + (0.5 if people > 1 else 0)
    p = f / F
    # E[1/F | f] = ∫_0^1 p^f t^(f−1) / (1 − (1−p)t)^f dt for the negative binomial posterior
    wanted = quad(lambda t: p**f * t ** (f - 1) / (1 - (1 - p) * t) ** f, 0, 1)[0]
    found = individual_risk(Frequencies(np.array([f]), np.array([F])), method="exact")[0]
    assert found == pytest.approx(wanted, rel=1e-7)
    h = np.arange(f, int(400 * F) + 2000)
    mass = np.exp(gammaln(h) - gammaln(f) - gammaln(h - f + 1) + f * np.log(p) + (h - f) * np.log1p(-min(p, 1 - 1e-16)))
    assert found == pytest.approx((mass / h).sum(), rel=1e-6)


def test_the_usual_formula_is_exact_for_one_and_two():
    counts = Frequencies(np.array([1, 1, 2, 2, 3]), np.array([4.0, 90.0, 11.0, 2000.0, 3.0]))
    assert individual_risk(counts)[:4] == pytest.approx(individual_risk(counts, method="exact")[:4], rel=1e-9)
    assert individual_risk(counts)[4] == pytest.approx(1 / 3)  # a census


def test_households():
    table = MicroTable.of([Column.of("home", ["a", "a", "b", None, None])])
    assert household_risk(table, "home", np.array([0.5, 0.5, 0.2, 0.1, 1.0])).tolist() == pytest.approx(
        [0.75, 0.75, 0.2, 0.1, 1.0]
    )


def test_missing_values_may_be_anything():
    table = MicroTable.of([Column.of("a", [1, 1, None, 2]), Column.of("b", [1, 2, 1, None])])
    assert frequencies(table, ["a", "b"]).sample.tolist() == [1, 1, 1, 1]
    wild = frequencies(table, ["a", "b"], missing="any").sample
    rows = [(1, 1), (1, 2), (None, 1), (2, None)]

    def alike(x, y):
        return all(u is None or v is None or u == v for u, v in zip(x, y, strict=True))

    assert wild.tolist() == [sum(alike(x, y) for y in rows) for x in rows]


def test_uniques():
    found = uniques(Frequencies(np.array([1, 1, 2, 2]), np.array([1.0, 10.0, 50.0, 50.0])))
    assert (found.sample, found.population) == (2, pytest.approx(1.1))


@pytest.mark.parametrize("weights", [[1, 1, 0], [1, -2, 1], [1, None, 1]])
def test_bad_weights_are_refused(weights):
    table = MicroTable.of([Column.of("q", [1, 2, 3]), Column.of("w", weights)])
    with pytest.raises(Misconfigured, match="weights 'w'"):
        frequencies(table, ["q"], "w")


def test_weights_below_one_are_refused():
    table = MicroTable.of([Column.of("q", [1, 2, 3]), Column.of("w", [0.5, 1, 1])])
    with pytest.raises(Misconfigured, match="fewer people"):
        individual_risk(frequencies(table, ["q"], "w"))
