"""Blanks that may be anything: counted by comparing all pairs of rows, and few of them."""

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.microdata.groups.groups import groups_of
from nowiser.microdata.methods.blank_cells import blanked
from nowiser.microdata.models.blank_k_anonymity import BlankKAnonymity
from nowiser.microdata.publish import publish
from nowiser.microdata.recheck.recheck import Claim, Evidence, recheck
from nowiser.microdata.table.read import load

ANY = {"steps": [{"cell_suppression": {"blank": "any"}}]}


def pairs(rows):
    """How many rows each could be, by looking at all of them."""
    return [sum(all(a is None or b is None or a == b for a, b in zip(x, y, strict=True)) for y in rows) for x in rows]


def random_rows(seed, rows=60, gaps=0.2):
    random = np.random.default_rng(seed)
    drawn = [[str(v) for v in random.geometric(0.4, rows)] for _ in range(3)]
    return [tuple(None if random.random() < gaps else v for v in row) for row in zip(*drawn, strict=True)]


def frame_of(rows):
    return pd.DataFrame(rows, columns=list("abc"), dtype=object)


@pytest.mark.parametrize("seed", range(20))
def test_the_model_counts_as_all_pairs_do_and_so_does_the_re_check(seed, tmp_path):
    rows = random_rows(seed)
    wanted = pairs(rows)
    groups = groups_of(load(frame_of(rows)), list("abc"))
    scores = BlankKAnonymity().score(groups)
    assert scores.min() == min(wanted)
    assert float(groups.size @ scores) == sum(wanted)
    frame_of(rows).to_csv(tmp_path / "t.csv", index=False)
    evidence = Evidence((), tuple("abc"))
    claim = Claim("blank-k-anonymity", {}, min(wanted))
    assert recheck(tmp_path / "t.csv", [claim], evidence, len(rows))[claim.text] == min(wanted)
    with pytest.raises(NotEvaluated, match="does not keep the claim"):
        recheck(tmp_path / "t.csv", [Claim("blank-k-anonymity", {}, min(wanted) + 1)], evidence, len(rows))


@pytest.mark.parametrize("seed", range(12))
def test_every_row_could_be_k_others_and_no_value_is_changed(seed):
    rows = random_rows(seed, gaps=0.05)
    table = load(frame_of(rows))
    codes = np.stack([table[q].codes for q in "abc"], axis=1)
    for k in (2, 5, 20):
        out = blanked(codes, k)
        assert ((out == codes) | (out == -1)).all()
        assert min(pairs([tuple(None if c < 0 else c for c in row) for row in out.tolist()])) >= k


def test_fewer_blanks_than_where_a_blank_matches_only_a_blank(tmp_path):
    frame = frame_of(random_rows(1, rows=300, gaps=0))
    strict = publish(frame, quasi=list("abc"), k=3, steps=["cell_suppression"])
    loose = publish(frame, quasi=list("abc"), models={"blank-k-anonymity": 3}, output=tmp_path / "o.csv", **ANY)
    blanks = [m.chosen.steps[-1].codebook["blank cells in all"] for m in (loose, strict)]
    assert 0 < blanks[0] < blanks[1]
    assert loose.rechecked["blank-k-anonymity (k 3)"] == min(
        pairs(list(zip(*loose.to_arrow().to_pydict().values(), strict=True)))
    )
    assert loose.codebook["steps"][0]["a blank matches"] == "anything"
    assert loose.chosen.smallest < 3  # and the stricter count is printed beside it


def test_important_columns_are_blanked_last():
    rows = [("x", "p", "1"), ("x", "q", "1"), ("y", "p", "1"), ("y", "q", "1")]
    for spared in "ab":
        steps = [{"cell_suppression": {"blank": "any", "important": [spared]}}]
        made = publish(frame_of(rows), quasi=list("abc"), models={"blank-k-anonymity": 2}, steps=steps)
        assert made.to_pandas()[spared].notna().all()


def test_other_models_are_refused():
    frame = frame_of(random_rows(1))
    for models in ({"k-anonymity": 2}, {"blank-k-anonymity": 2, "sample-uniqueness": 0.5}):
        with pytest.raises(Misconfigured, match="alone"):
            publish(frame, quasi=list("abc"), models=models, **ANY)
