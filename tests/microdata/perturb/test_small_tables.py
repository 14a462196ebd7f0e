"""Tiny and odd tables: every method either does its work or refuses in words; nothing else is raised."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.correlated_noise import CorrelatedNoise
from nowiser.microdata.perturb.noise import AddNoise
from nowiser.microdata.perturb.pram import Pram
from nowiser.microdata.perturb.private import PrivateNoise, PrivateResponse
from nowiser.microdata.perturb.randomised_response import RandomisedResponse
from nowiser.microdata.perturb.rank_swap import RankSwap
from nowiser.microdata.perturb.record_swap import RecordSwap
from nowiser.microdata.perturb.resample import Resample
from nowiser.microdata.perturb.sample import Sample
from nowiser.microdata.perturb.shuffle import Shuffle
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

METHODS = [
    AddNoise("n"),
    AddNoise("n", scale=2.0, strata="c"),
    AddNoise("n", only="outliers"),
    CorrelatedNoise(["n", "m"]),
    CorrelatedNoise(["n", "m"], covariance="unbiased", robust="ranks"),
    RankSwap(["n", "c"], within=0.5),
    RecordSwap("c", match="d", share=0.5),
    Pram("c", keep=0.6),
    Pram(["c", "d"], joint=True),
    RandomisedResponse("c"),
    Shuffle("n", given=["m", "c"]),
    Shuffle(["n", "m"]),
    Resample("n"),
    Resample("n", model="bootstrap", strata="d"),
    Sample(0.5, strata="c"),
    PrivateNoise("t", "n", -10, 10, scale=2),
    PrivateResponse("t", "c", ["a", "b", "c", "d"], jump=1.0),
]

ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-3, 3)),
        st.integers(-2, 2),
        st.one_of(st.none(), st.sampled_from("abc")),
        st.sampled_from("xy"),
    ),
    max_size=12,
)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@settings(max_examples=25, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 1000))
def test_it_works_or_refuses(method, rows, seed):
    kinds = (("n", pa.int64()), ("m", pa.int64()), ("c", pa.string()), ("d", pa.string()))
    table = MicroTable.of(Column.of(n, pa.array([r[i] for r in rows], kind)) for i, (n, kind) in enumerate(kinds))
    run = Run(Roles(("d", "m"), ("n", "c")), table, random=np.random.default_rng(seed))
    try:
        step = method.apply(table, run)
    except Misconfigured:
        return
    assert step.table.rows <= table.rows
    for g in step.guesses:
        assert 0 <= g.before <= g.after <= 1 + 1e-9
    if not isinstance(method, (Sample, RecordSwap)):  # one leaves rows out, one exchanges missing values too
        for name in ("n", "c"):  # missing stays missing, and nothing else becomes it
            assert ((step.table[name].codes < 0) == (table[name].codes < 0)).all()
