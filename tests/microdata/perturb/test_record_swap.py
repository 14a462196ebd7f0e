from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.record_swap import RecordSwap
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def households(seed, homes=60):
    random = np.random.default_rng(seed)
    rows = []
    for home in range(homes):
        place, layer = random.choice(["north", "south", "east"]), random.choice(["u", "r"])
        rows += [
            (home, place, layer, int(random.integers(3)), int(random.integers(4))) for _ in range(random.integers(1, 4))
        ]
    names = ("home", "place", "layer", "age", "job")
    return MicroTable.of(Column.of(n, [r[i] for r in rows]) for i, n in enumerate(names))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.floats(0, 1), st.integers(1, 5))
def test_marginals_are_kept_per_stratum_and_households_stay_together(seed, share, k):
    table = households(seed)
    roles = Roles(("place", "age", "job"), household="home", strata=("layer",))
    method = RecordSwap("place", match=["age", "job"], share=share, k=k)
    step = method.apply(table, Run(roles, table, random=np.random.default_rng(seed)))
    for layer in range(2):
        here = table["layer"].codes == layer
        assert Counter(table["place"].codes[here]) == Counter(step.table["place"].codes[here])
    for home in range(60):
        assert len(set(step.table["place"].codes[table["home"].codes == home])) == 1
    for name in ("age", "job", "layer", "home"):
        assert (step.table[name].codes == table[name].codes).all()


def test_risky_records_are_swapped_first(run):
    rows = [("a", "x"), ("b", "x")] * 50 + [("c", "rare"), ("d", "rare")]
    table = MicroTable.of([Column.of("place", [r[0] for r in rows]), Column.of("kind", [r[1] for r in rows])])
    step = RecordSwap("place", match="kind", share=0.0, k=3).apply(table, run(table, quasi=("place", "kind")))
    assert step.codebook["swapped"] == 2
    assert step.table["place"].to_arrow().to_pylist()[-2:] == ["d", "c"]


def test_partners_agree_on_what_must_match(people, run):
    table = people()
    step = RecordSwap("region", match=["sex", "illness"], share=0.3, k=1).apply(table, run(table, quasi=("age",)))
    assert step.codebook["without a partner"] == 0
    for name in ("sex", "illness"):  # exchanged only inside groups that agree: joint distributions stay
        before = Counter(zip(table["region"].codes, table[name].codes, strict=True))
        assert before == Counter(zip(step.table["region"].codes, table[name].codes, strict=True))
    moved = (step.table["region"].codes != table["region"].codes).mean()
    assert 0.2 < moved <= 0.35


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"match": ["place"]}, "swap column"),
        ({"share": 2.0}, "share"),
        ({"swap": "age"}, "differ"),
        ({"household": "nowhere"}, "nowhere"),
    ],
)
def test_bad_input_is_refused(options, words):
    table = households(0)
    run = Run(Roles(("age",), household="home"), table, random=np.random.default_rng(0))
    with pytest.raises(Misconfigured, match=words):
        RecordSwap(**({"swap": "place"} | options)).apply(table, run)
