import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb.sample import Sample
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def test_weighted_totals_are_unbiased(people, run):
    table = people(rows=300)
    weight = table["weight"].numbers
    wanted = float(weight @ table["income"].numbers)
    found = []
    for seed in range(400):
        made = Sample(0.3, strata="sex").apply(table, run(table, seed, weight="weight")).table
        found.append(float(made["weight"].numbers @ made["income"].numbers))
    assert abs(np.mean(found) - wanted) < 5 * np.std(found) / np.sqrt(len(found))


def test_strata_get_their_share_and_the_origin_is_remembered(people, run):
    table = people()
    made = Sample(0.2, strata="region").apply(table, run(table)).table
    for r in range(5):
        size = int((table["region"].codes == r).sum())
        assert int((made["region"].codes == r).sum()) == max(1, round(0.2 * size))
    assert (made["income"].numbers == table["income"].numbers[made.origin]).all()
    assert made["weight"].numbers.sum() == pytest.approx(table.rows)


def test_households_are_drawn_whole(people, run):
    table = people()
    made = Sample(0.1).apply(table, run(table, household="home")).table
    assert set(np.bincount(made["home"].codes, minlength=500).tolist()) <= {0, 3}


@pytest.mark.parametrize("part", [0.0, 1.1, -0.5])
def test_bad_shares_are_refused(people, run, part):
    with pytest.raises(Misconfigured, match="share"):
        Sample(part).apply(people(10), run(people(10)))


def test_bad_weights_and_strata_are_refused(people, run):
    table = people(30)
    negative = table.with_columns(Column.of("weight", [-1, *[1] * 29]))
    with pytest.raises(Misconfigured, match="positive; zero or less in 1 row of 30"):
        Sample(0.5).apply(negative, run(negative, weight="weight"))
    gap = table.with_columns(Column.of("weight", [None, *[1] * 29]))
    with pytest.raises(Misconfigured, match="missing in 1"):
        Sample(0.5).apply(gap, run(gap, weight="weight"))
    torn = MicroTable.of([Column.of("home", [1, 1]), Column.of("s", ["a", "b"])])
    with pytest.raises(Misconfigured, match="different strata"):
        Sample(0.5, household="home", strata="s").apply(torn, run(torn))
