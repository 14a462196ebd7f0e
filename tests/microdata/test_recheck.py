"""The re-check in SQL agrees with the models, on the file, and notices when a file does not keep a claim."""

import ast
import importlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nowiser.errors import NotEvaluated
from nowiser.microdata import registry
from nowiser.microdata.groups.groups import groups_of, target_of
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.recheck.recheck import Claim, Evidence, recheck
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.write import write_table
from support.tables import random_table

CLAIMS = [
    ("k-anonymity", {}),
    ("alpha-k-anonymity", {"about": "s"}),
    ("alpha-k-anonymity", {"about": "s", "among": ("0", "10")}),
    ("highest-risk", {}),
    ("average-risk", {}),
    ("sample-uniqueness", {}),
    ("distinct-l-diversity", {"about": "s"}),
    ("entropy-l-diversity", {"about": "s"}),
    ("recursive-cl-diversity", {"about": "s"}),
    ("t-closeness", {"about": "s"}),
    ("t-closeness", {"about": "s", "distance": "ordered"}),
    ("t-closeness", {"about": "s", "distance": "hierarchical"}),
    ("delta-disclosure", {"about": "s"}),
    ("beta-likeness", {"about": "s"}),
    ("enhanced-beta-likeness", {"about": "s"}),
    ("gain", {"about": "s"}),
    ("gain", {"about": "s", "within": 10.0}),
    ("gain", {"about": "s", "knows": 1}),
    ("gain", {"about": "s", "knows": 2, "within": 10.0}),
]


def sample(seed):
    table, specs = random_table(np.random.default_rng(seed), quasi=3, rows=80)
    tree = hierarchy(table["s"], [[label, "low" if float(label) < 20 else "high", "*"] for label in table["s"].labels])
    target = target_of(table, "s", tree)
    return table, groups_of(table, tuple(specs), [target]), Evidence(("s",), tuple(specs), {"s": tree.path()})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
@pytest.mark.parametrize("seed", range(2))
def test_sql_and_models_find_the_same_values(tmp_path, seed, suffix):
    table, groups, evidence = sample(seed)
    path = tmp_path / f"out{suffix}"
    write_table(table, path)
    found = [(name, options, registry.models()[name](**options).value(groups)) for name, options in CLAIMS]
    claims = [Claim(name, options, value if np.isfinite(value) else None) for name, options, value in found]
    recheck(path, claims, evidence, table.rows)
    for claim in claims:
        if claim.value is not None:
            with pytest.raises(NotEvaluated, match="does not keep the claim"):
                recheck(path, [replace(claim, value=claim.value + 0.01)], evidence, table.rows)


def test_every_model_is_rechecked():
    from nowiser.microdata.recheck.recheck import _Check

    for name in registry.models():
        assert hasattr(_Check, "_" + name.replace("-", "_")), name


def test_a_model_without_a_second_way_publishes_nothing(tmp_path):
    table, _, evidence = sample(1)
    write_table(table, tmp_path / "out.csv")
    with pytest.raises(NotEvaluated, match="no second way"):
        recheck(tmp_path / "out.csv", [Claim("hope", {}, 1.0)], evidence, table.rows)


@pytest.mark.parametrize("estimator", ["pitman", "zayatz", "snb"])
@pytest.mark.parametrize("seed", range(3))
def test_population_uniques_are_estimated_again_from_the_file(tmp_path, seed, estimator):
    table, groups, evidence = sample(seed)
    path = tmp_path / "out.csv"
    write_table(table, path)
    for people in (80, 200, 5000):
        options = {"people": people, "estimator": estimator}
        value = registry.models()["population-uniqueness"](**options).value(groups)
        found = recheck(path, [Claim("population-uniqueness", options, value)], evidence, table.rows)
        assert list(found) == [f"population-uniqueness (people {people}, estimator {estimator})"]
        with pytest.raises(NotEvaluated, match="does not keep the claim"):
            recheck(path, [Claim("population-uniqueness", options, value + 0.01)], evidence, table.rows)


def test_two_claims_about_one_column_do_not_hide_each_other(tmp_path):
    table, groups, evidence = sample(0)
    path = tmp_path / "out.csv"
    write_table(table, path)
    gain = registry.models()["gain"]
    options = [{"about": "s"}, {"about": "s", "within": 10.0}, {"about": "s", "within": 10.0, "knows": 1}]
    found = recheck(path, [Claim("gain", o, gain(**o).value(groups)) for o in options], evidence, table.rows)
    assert list(found) == ["gain s", "gain s (within 10)", "gain s (within 10, knows 1)"]
    assert found["gain s"] != found["gain s (within 10)"]


def test_missing_rows_are_noticed(tmp_path):
    table, _, evidence = sample(1)
    path = tmp_path / "out.csv"
    write_table(table, path)
    with pytest.raises(NotEvaluated, match="80 rows where 81"):
        recheck(path, [], evidence, 81)


def test_recheck_shares_no_code_with_the_search():
    listed = "import sys, nowiser.microdata.recheck.recheck; print([m for m in sys.modules if m.startswith('nowiser')])"
    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    modules = set(ast.literal_eval(done.stdout))
    own = {m for m in modules if m.startswith("nowiser.microdata.recheck")}
    package = {"nowiser", "nowiser.model", "nowiser.model.supplied"}  # what `import nowiser` itself brings: no method
    around = {"nowiser.errors", "nowiser.microdata", "nowiser.files", "nowiser.files.interrupted"}  # Ctrl-C in DuckDB
    assert modules - own == package | around
    for module in own:  # nothing later either, inside a function
        text = Path(importlib.import_module(module).__file__).read_text(encoding="utf-8")
        named = re.findall(r"(?:from|import) (nowiser[\w.]*)", text)
        assert all(n in around or n.startswith("nowiser.microdata.recheck") for n in named), named


def test_a_guess_within_a_distance_is_asked_once_also_where_ends_of_cents_nearly_meet(tmp_path):
    """57.38 + 20 and 97.38 − 20 are neighbouring doubles: the middle between them is one of them."""
    import random

    rng = random.Random(3)
    rows = [(rng.choice("abc"), f"{rng.uniform(0, 400):.2f}") for _ in range(400)] + [("a", "57.38"), ("a", "97.38")]
    (tmp_path / "t.csv").write_text("ward,cost\n" + "".join(f"{w},{c}\n" for w, c in rows))
    (tmp_path / "nowiser.yaml").write_text(
        "nowiser: 1\ntables:\n  t:\n    source: t.csv\n    person: each row\n    protect: values\n    columns:\n"
        "      ward: {public: [a, b, c]}\n      cost: {sensitive: [0, 400]}\n"
        "attackers:\n  - {guess: t.cost within 20, gain: 30%}\n"
    )
    command = ["publish", "t.csv", "-p", "nowiser.yaml", "--quasi", "ward", "--sensitive", "cost", "-o", "o.csv", "-y"]
    found = subprocess.run(
        [sys.executable, "-m", "nowiser.cli.main", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(("here", "keeps"), [(["20"] * 3 + ["22"] * 3, True), (["20"] * 3 + ["22"], False)])
def test_presence_is_checked_on_both_sides(tmp_path, here, keeps):
    """Of ten aged 22 one is in the file: whoever is 22 is known to be hardly there."""
    path = tmp_path / "out.csv"
    write_table(MicroTable.from_arrow(pa.table({"age": here})), path)
    everybody = pa.table({"age": ["20"] * 10 + ["22"] * 10})
    claim = Claim("delta-presence", {"low": 0.2, "high": 0.7}, 0.3)
    known = Evidence((), ("age",), {}, everybody)
    if keeps:
        assert recheck(path, [claim], known, len(here)) == {claim.text: 0.3}
    else:
        with pytest.raises(NotEvaluated, match="does not keep the claim"):
            recheck(path, [claim], known, len(here))
