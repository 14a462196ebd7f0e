"""What each method promises, on random tables."""

import sys

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata import registry
from nowiser.microdata.groups.groups import groups_of, target_of
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.methods import microaggregation
from nowiser.microdata.methods.cell_suppression import CellSuppression
from nowiser.microdata.methods.coding import TopBottom
from nowiser.microdata.methods.generalise import Generalise
from nowiser.microdata.methods.group_values import means
from nowiser.microdata.methods.local_recoding import LocalRecoding
from nowiser.microdata.methods.microaggregation import Microaggregation, groups, lost
from nowiser.microdata.methods.mondrian import Mondrian
from nowiser.microdata.methods.pseudonym import Pseudonym
from nowiser.microdata.methods.record_suppression import RecordSuppression
from nowiser.microdata.methods.rounding import Rounding
from nowiser.microdata.models.gain import Gain
from nowiser.microdata.models.k_anonymity import KAnonymity
from nowiser.microdata.models.t_closeness import TCloseness
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from support.tables import random_table


def run_for(seed, models, *, rows=200, suppress=0):
    table, specs = random_table(np.random.default_rng(seed), quasi=3, rows=rows)
    trees = {n: hierarchy(table[n], [*map(list, spec)]) for n, spec in specs.items()}
    for n, spec in specs.items():
        if spec[0][-1] != "*":
            trees[n] = hierarchy(table[n], [[*row, "*"] for row in spec])
    return table, Run(Roles(tuple(specs), ("s",)), table, trees, models, suppress)


def test_every_method_in_the_folder_has_its_name():
    for name, method in registry.methods().items():
        assert method.name == name


@pytest.mark.parametrize(
    "method", [Generalise(), LocalRecoding(), CellSuppression(), Mondrian(), Mondrian(relaxed=True)]
)
@pytest.mark.parametrize(
    "models", [(KAnonymity(k=4),), (KAnonymity(k=3), Gain(about="s", gain=0.35))], ids=["k", "gain"]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_models_hold_in_what_a_method_releases(method, models, seed):
    table, run = run_for(seed, models, suppress=10)
    step = method.apply(table, run)
    assert step.suppressed <= 10
    assert step.table.rows == table.rows - step.suppressed
    released = groups_of(step.table, run.roles.quasi, [target_of(table, "s")])
    for model in models:
        assert model.holds(model.value(released)), (model, model.value(released))


@pytest.mark.parametrize("seed", range(6))
def test_local_recoding_loses_no_more_than_full_domain_generalisation(seed):
    table, run = run_for(seed, (KAnonymity(k=4),), rows=300)
    assert LocalRecoding().apply(table, run).loss <= Generalise().apply(table, run).loss + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_released_labels_are_true_of_every_row(seed):
    table, run = run_for(seed, (KAnonymity(k=4),), suppress=8)
    for method in (Generalise(), LocalRecoding()):
        out = method.apply(table, run).table
        for q in run.roles.quasi:
            paths = run.hierarchies[q].path()
            before, after = table[q].to_arrow().to_pylist(), out[q].to_arrow().to_pylist()
            for row, label in zip(out.origin, after, strict=True):
                assert label in paths[before[row]]


def test_mondrian_boxes_contain_their_rows():
    table, run = run_for(3, (KAnonymity(k=4),))
    ages = Column.of("age", [int(a) for a in np.random.default_rng(1).integers(18, 90, table.rows)])
    table = table.with_columns(ages)
    trees = {**run.hierarchies, "age": hierarchy(ages, "intervals:10")}
    run = Run(Roles((*run.roles.quasi, "age"), ("s",)), table, trees, (KAnonymity(k=4),))
    out = Mondrian().apply(table, run).table["age"].to_arrow().to_pylist()
    for label, age in zip(out, ages.to_arrow().to_pylist(), strict=True):
        low, _, high = label.partition("-")
        assert int(low) <= age <= int(high or low)


def test_relaxed_mondrian_cuts_where_strict_cannot():
    table = MicroTable.of([Column.of("a", [1] * 6 + [2] * 2)])
    run = Run(Roles(("a",)), table, {"a": hierarchy(table["a"], "intervals:1")}, (KAnonymity(k=3),))
    assert Mondrian().apply(table, run).codebook["boxes"] == 1
    assert Mondrian(relaxed=True).apply(table, run).codebook["boxes"] == 2


def test_mondrian_unites_boxes_until_a_closed_model_holds():
    table, run = run_for(9, (KAnonymity(k=2), TCloseness(about="s", t=0.2)), rows=400)
    step = Mondrian().apply(table, run)
    plain = Mondrian().apply(table, Run(run.roles, table, run.hierarchies, (KAnonymity(k=2),)))
    assert step.codebook["boxes"] < plain.codebook["boxes"]


def test_cell_suppression_blanks_few_cells_and_a_blank_matches_only_a_blank():
    table = MicroTable.of([Column.of("a", list("xxxxy")), Column.of("b", list("ppqqq"))])
    trees = {n: hierarchy(table[n], None) for n in "ab"}
    step = CellSuppression().apply(table, Run(Roles(("a", "b")), table, trees, (KAnonymity(k=2),)))
    assert groups_of(step.table, ["a", "b"]).size.min() >= 2
    assert step.codebook["blank cells in all"] <= 3


def test_record_suppression_refuses_beyond_its_limit():
    table, run = run_for(1, (KAnonymity(k=30),))
    with pytest.raises(NotAnswerable, match="the limit is 0"):
        RecordSuppression().apply(table, run)


def test_record_suppression_leaves_only_what_passes():
    table, run = run_for(2, (KAnonymity(k=5),), suppress=200)
    step = RecordSuppression().apply(table, run)
    assert groups_of(step.table, run.roles.quasi).size.min() >= 5


@pytest.mark.parametrize("seed", range(30))
def test_blocks_of_neighbours_find_the_groups_that_looking_at_everybody_finds(monkeypatch, seed):
    """Compiled and plain MDAV agree record by record."""
    random = np.random.default_rng(seed)
    data = random.normal(size=(150 + seed * 20, 1 + seed % 4))
    fast = groups(data, 3 + seed % 5, variable=False, reach=0.2)
    monkeypatch.setattr(microaggregation, "compiled", lambda: None)
    assert (fast == groups(data, 3 + seed % 5, variable=False, reach=0.2)).all()


def test_equal_records_are_grouped_as_well_by_blocks(monkeypatch):
    """Ties may fall either way (centres are summed in another order); what is lost is the same within a little."""
    for seed in range(10):
        data = np.round(np.random.default_rng(seed).normal(size=(600, 2)) * 3)
        monkeypatch.undo()
        fast = groups(data, 4, variable=False, reach=0.2)
        assert np.bincount(fast).min() >= 4
        monkeypatch.setattr(microaggregation, "compiled", lambda: None)
        plain = groups(data, 4, variable=False, reach=0.2)
        assert lost(data, means(data, fast)[fast]) == pytest.approx(lost(data, means(data, plain)[plain]), rel=0.05)


def test_microaggregation_groups_have_at_least_k_and_keep_the_mean():
    random = np.random.default_rng(4)
    for variable in (False, True):
        for n in (7, 20, 101):
            data = random.normal(size=(n, 3))
            member = groups(data, 3, variable=variable, reach=0.4)
            sizes = np.bincount(member)
            assert sizes.min() >= 3
            assert sizes.max() <= 5 + 2  # the last few join the nearest group
            replaced = means(data, member)[member]
            assert replaced.mean(axis=0) == pytest.approx(data.mean(axis=0))
            assert 0 <= lost(data, replaced) <= 1


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [("mean", 4.0, 15.0), ("median", 1.0, 14.0), ("mode", 1.0, 13.0), ("interval", "[1, 10]", "[13, 18]")],
)
def test_a_group_gets_its_mean_median_mode_or_interval(value, low, high):
    table = MicroTable.of([Column.of("x", [1.0, 1.0, 4.0, 10.0, 13.0, 14.0, 18.0])])
    step = Microaggregation(k=3, columns=("x",), value=value).apply(table, Run(Roles(()), table))
    assert step.table["x"].to_arrow().to_pylist() == [low] * 4 + [high] * 3


def test_microaggregation_needs_complete_numbers():
    table = MicroTable.of([Column.of("x", [1.0, None, 3.0, 4.0])])
    with pytest.raises(Misconfigured, match="NULLs in 'x': 1"):
        Microaggregation(k=2, columns=("x",)).apply(table, Run(Roles(()), table))


def test_coding_and_rounding():
    table = MicroTable.of([Column.of("age", ["7", "25", "97", None]), Column.of("x", [-14.9, 15.0, 24.9, None])])
    run = Run(Roles(()), table)
    assert TopBottom("age", top=90, bottom=18).apply(table, run).table["age"].to_arrow().to_pylist() == [
        "18",
        "25",
        "90",
        None,
    ]
    labelled = TopBottom("age", top=90, label_top="90+").apply(table, run).table["age"].to_arrow().to_pylist()
    assert labelled == ["7", "25", "90+", None]
    assert Rounding("x", to=10).apply(table, run).table["x"].to_arrow().to_pylist() == [-10.0, 20.0, 20.0, None]
    with pytest.raises(Misconfigured, match="positive"):
        Rounding("x", to=0)
    with pytest.raises(Misconfigured, match="exceed"):
        TopBottom("x", top=1, bottom=2)


def test_pseudonyms_need_a_key_and_depend_on_it(tmp_path, monkeypatch):
    table = MicroTable.of([Column.of("name", ["ann", "bob", "ann", None])])
    run = Run(Roles((), identifiers=("name",)), table)
    key = tmp_path / "key"
    first = Pseudonym("name", key_file=str(key)).apply(table, run)
    again = Pseudonym("name", key_file=str(key)).apply(table, run)
    codes = first.table["name"].to_arrow().to_pylist()
    assert codes == again.table["name"].to_arrow().to_pylist()
    assert codes[0] == codes[2] != codes[1]
    assert codes[3] is None
    assert key.stat().st_mode & 0o077 == 0
    assert key.read_text().strip() not in str(first.codebook)
    monkeypatch.setenv("OTHER", "x" * 32)
    other = Pseudonym("name", key_env="OTHER").apply(table, run).table["name"].to_arrow().to_pylist()
    assert other[0] != codes[0]
    monkeypatch.setenv("SHORT", "x")
    with pytest.raises(Misconfigured, match="at least 16 bytes"):
        Pseudonym("name", key_env="SHORT").apply(table, run)
    with pytest.raises(Misconfigured, match="exactly one"):
        Pseudonym("name")


def test_mondrian_without_numba_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nowiser.microdata.methods.mondrian_kernel", None)
    table, run = run_for(1, (KAnonymity(k=4),))
    with pytest.raises(Misconfigured, match="numba"):
        Mondrian().apply(table, run)


def test_pandas_polars_and_arrow_give_the_same_release():
    import polars as pl
    import pyarrow as pa

    import nowiser as nw

    frame = pd.DataFrame({"age": [21, 24, 29, 33, 38, 39], "ill": list("aabbcc")})
    options = {"quasi": {"age": "intervals:5:10"}, "sensitive": "ill", "k": 3, "keep_order": True}
    results = [nw.publish(t, **options) for t in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame))]
    assert len({str(r.to_arrow().to_pylist()) for r in results}) == 1
    assert results[0].chosen.levels == {"age": 2}
    assert results[0].to_pandas().shape == (6, 2)
    assert results[0].to_polars().shape == (6, 2)
    assert "<table" in results[0]._repr_html_()
    assert "<svg" in nw.risk(frame, quasi="age", sensitive="ill")._repr_html_()
