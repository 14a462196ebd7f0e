import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.compare import compare
from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.column import Column


def people(rows=400, seed=0):
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, rows)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "age": age,
            "sex": random.choice(["f", "m"], rows),
            "income": np.round(1000 + 30 * age + random.normal(0, 200, rows)),
            "ill": np.where(random.random(rows) < 0.3, "yes", "no"),
        }
    )


def noisy(frame, seed=1):
    out = frame.copy()
    out["income"] += np.random.default_rng(seed).normal(0, 300, len(frame)).round()
    return out


OPTIONS = {"quasi": ["age", "sex"], "sensitive": ["income", "ill"], "within": {"income": 100}}


def test_pandas_polars_arrow_and_files_agree(tmp_path):
    frame, released = people(), noisy(people())
    frame.to_csv(tmp_path / "a.csv", index=False)
    released.to_parquet(tmp_path / "b.parquet")
    forms = [
        (frame, released),
        (pl.from_pandas(frame), pa.Table.from_pandas(released, preserve_index=False)),
        (tmp_path / "a.csv", tmp_path / "b.parquet"),
    ]
    found = [nw.compare(a, b, **OPTIONS, in_order=True) for a, b in forms]
    figures = [(c.kept, [(g.attacker, round(g.after, 9)) for g in c.guesses]) for c in found]
    assert figures[0] == figures[1]
    assert figures[0][1] == figures[2][1]
    assert figures[0][0] == pytest.approx(figures[2][0])


def test_everything_is_there_and_is_json():
    found = compare(people(), noisy(people()), **OPTIONS, in_order=True, target="ill")
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["alignment"] == "by the order of the rows"
    assert {
        "individual risk",
        "uniques",
        "special uniques (SUDA)",
        "nearest released row",
        "probabilistic linkage",
    } <= set(content["risk"])
    assert "income" in content["risk"]["interval disclosure"]
    assert {"kept", "marginals", "pairs", "means", "variances", "correlations", "eigenvalues", "quantiles"} <= set(
        content["utility"]
    )
    assert {"il1s", "regression", "propensity", "classifier", "groups"} <= set(content["utility"])
    assert len(content["guesses"]) == 8
    assert content["strongest"]["attacker"] != "has found the victim's row"


def test_rows_are_matched_by_a_key_even_when_shuffled_and_dropped():
    frame = people()
    released = noisy(frame).sample(frac=0.8, random_state=0)
    by_key = compare(frame, released, **OPTIONS, key="id")
    assert by_key.alignment == "by 'id'"
    assert by_key.utility["il1s"] == pytest.approx(
        np.abs(released["income"] - frame.loc[released.index, "income"]).mean()
        / (np.sqrt(2) * frame["income"].std())
        / 2,
        rel=0.05,
    )
    blind = compare(frame.drop(columns="id"), released.drop(columns="id"), **OPTIONS)
    assert blind.alignment.startswith("unknown")
    assert "il1s" not in blind.utility
    assert "nearest released row" not in blind.risk
    assert all(g.attacker != "has found the victim's row" for g in blind.guesses)


def test_more_noise_means_less_risk_and_less_utility():
    frame = people(1500)
    wild = frame.copy()
    wild["income"] = np.random.default_rng(0).permutation(frame["income"])
    chart = nw.ru_map(
        frame, {"as it is": frame, "torn": wild}, quasi=["age", "sex"], sensitive=["income"], in_order=True
    )
    same, torn = (next(p for p in chart.points if p.title == t) for t in ("as it is", "torn"))
    assert torn.risk < same.risk
    assert torn.utility < same.utility
    assert not same.dominated
    spec = chart.chart().to_dict()
    assert "layer" in spec
    assert "text/html" in str(chart._repr_mimebundle_()) or chart._repr_mimebundle_()


def test_the_report_is_one_offline_file(tmp_path):
    found = compare(people(), noisy(people()), **OPTIONS, in_order=True)
    page = found.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What an attacker guesses" in page
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "<table>" in found._repr_html_()
    with pytest.raises(Misconfigured, match=r"must end in \.html"):
        found.save(tmp_path / "report.txt")
    with pytest.raises(Misconfigured, match="does not exist"):
        found.save(tmp_path / "no" / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quasi": ["nowhere"]}, "nowhere"),
        ({"sensitive": ["nowhere"]}, "nowhere"),
        ({"weight": "neg"}, "positive"),
        ({"key": "sex"}, "does not tell"),
        ({"within": {"ill": 3}}, "within: 'ill'"),
        ({"within": {"income": -3}}, "negative"),
        ({"target": "nowhere"}, "target: the table has no column 'nowhere'"),
    ],
)
def test_bad_input_is_refused(options, words):
    frame = people(60)
    frame["neg"] = -1.0
    with pytest.raises(Misconfigured, match=words):
        compare(frame, frame, **(OPTIONS | options))


def test_a_release_without_a_named_column_is_refused():
    with pytest.raises(Misconfigured, match="the release has no column 'ill'"):
        compare(people(60), people(60).drop(columns="ill"), **OPTIONS)
    with pytest.raises(Misconfigured, match="at least one release"):
        nw.ru_map(people(60), {})
    doubled = pd.concat([people(60), people(60)])
    with pytest.raises(Misconfigured, match="occurs twice"):
        compare(people(60), doubled, key="id")
    other = people(60)
    other["id"] += 1000
    with pytest.raises(Misconfigured, match="60 released rows"):
        compare(people(60), other, key="id")


CELLS = st.tuples(
    st.one_of(st.none(), st.integers(-3, 3)),
    st.one_of(st.none(), st.floats(-5, 5)),
    st.one_of(st.none(), st.sampled_from(["a", "b", "c"])),
    st.sampled_from(["x", "y"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, max_size=15), st.lists(CELLS, max_size=15), st.booleans())
def test_any_two_tables_are_compared_or_refused(old, new, same):
    kinds = (("n", pa.int64()), ("f", pa.float64()), ("c", pa.string()), ("d", pa.string()))
    a, b = (
        pa.table({n: pa.array([r[i] for r in rows], kind) for i, (n, kind) in enumerate(kinds)})
        for rows in (old, old if same else new)
    )
    try:
        found = compare(a, b, quasi=["n", "d"], sensitive=["f", "c"], in_order=same)
    except Misconfigured:
        assert not old or not (old if same else new)
        return
    json.dumps(found.to_json(), allow_nan=False)
    assert all(g.after >= g.before - 1e-12 for g in found.guesses)
    assert "<table>" in found._repr_html_()


def test_a_release_in_another_order_is_not_read_as_if_it_were_in_order():
    """Otherwise an attacker who matches ranges and prefixes would look harmless."""
    random = np.random.default_rng(3)
    age = random.integers(20, 60, 400)
    ill = np.where(age < 40, "flu", "cold")
    original = pa.table({"age": age, "ill": ill})
    mixed = random.permutation(400)
    released = pa.table({"age": [f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in age[mixed]], "ill": ill[mixed]})
    found = compare(original, released, quasi=["age"], sensitive=["ill"])
    assert found.alignment == "unknown: nothing says in which order the rows are"
    told = {g.attacker: g.after for g in found.guesses}
    assert told["knows the quasi-identifiers exactly"] == 1.0
    in_order = compare(original, released.take(np.argsort(mixed)), quasi=["age"], sensitive=["ill"], in_order=True)
    assert in_order.alignment == "by the order of the rows"
    assert not any("really" in note for note in in_order.notes)
    mistaken = compare(original, released, quasi=["age"], sensitive=["ill"], in_order=True)
    assert any("are the rows really in its order?" in note for note in mistaken.notes)


def test_small_tables_are_not_matched_by_order_either(tmp_path):
    """Of fewer than 100 rows nobody can tell by looking; the release of the tutorial looked as safe as none."""
    frame = people(60)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name, kept in (("random.csv", False), ("kept.csv", True)):
        nw.publish(
            tmp_path / "t.csv", quasi={"age": "prefix", "sex": None}, sensitive="ill", k=3, identifiers=["id"],
            keep=["income"], output=tmp_path / name, keep_order=kept, seconds=5,
        )  # fmt: skip
    options = {"quasi": ["age", "sex"], "sensitive": ["ill"]}
    mixed = compare(tmp_path / "t.csv", tmp_path / "random.csv", **options)
    assert mixed.alignment.startswith("unknown: nothing says")
    assert "nearest released row" not in mixed.risk
    same = compare(tmp_path / "t.csv", tmp_path / "kept.csv", **options)  # its codebook says so
    assert same.alignment == "by the order of the rows"
    exactly = [next(g.after for g in c.guesses if g.attacker.endswith("exactly")) for c in (mixed, same)]
    assert exactly[0] == pytest.approx(exactly[1])  # what needs no matching is the same
    with pytest.raises(Misconfigured, match="its rows are in random order"):
        compare(tmp_path / "t.csv", tmp_path / "random.csv", in_order=True, **options)
    with pytest.raises(Misconfigured, match="their order cannot be the same"):
        compare(frame, frame.head(59), in_order=True, **options)


@pytest.mark.parametrize(
    ("label", "value", "fits"),
    [
        ("20-29", "25", True),
        ("20-29", "30", False),
        ("12**", "1234", True),
        ("12**", "1334", False),
        ("*", "x", True),
        ("[20, 29]", "29", True),
        ("-5--1", "-3", True),
        ("20-29", "x", False),
        ("flu", "flu", True),
    ],
)
def test_labels_cover_their_values(label, value, fits):
    read = fit(Column.of("c", [value, "other"]), Column.of("c", [label]))
    assert read.fits[list(Column.of("c", [value, "other"]).labels).index(value), 0] == fits


@pytest.mark.parametrize(
    ("label", "told", "covered"),
    [
        ("flu | cold", {}, {"flu", "cold"}),
        ("lung", {"lung": frozenset({"asthma", "cold"})}, {"asthma", "cold"}),
        ("lung | flu", {"lung": frozenset({"asthma"})}, {"asthma", "flu"}),
        ("nonsense", {}, set()),
    ],
)
def test_unions_and_words_of_a_hierarchy_cover_their_values(label, told, covered):
    known = Column.of("c", ["flu", "cold", "asthma"])
    read = fit(known, Column.of("c", [label]), told)
    assert {v for v, fits in zip(known.labels, read.fits[:-1, 0], strict=True) if fits} == covered
    assert read.unread == (0.0 if covered else 1.0)


def test_labels_of_the_hierarchies_that_publish_makes_are_read():
    random = np.random.default_rng(0)
    born = pd.to_datetime("1950-01-01") + pd.to_timedelta(random.integers(0, 15_000, 400), unit="D")
    table = pd.DataFrame({"born": born.strftime("%Y-%m-%d")})
    table["ill"] = np.where(born.year < 1970, "old", "young")
    made = nw.publish(table, quasi="born", sensitive="ill", steps=[{"generalise": {"levels": {"born": 4}}}])
    found = nw.compare(table, made.to_pandas(), quasi=["born"], sensitive=["ill"])
    assert set(made.to_pandas()["born"]) <= {f"{d}0s" for d in range(195, 200)}
    assert not any("cannot be read" in note for note in found.notes)
    assert {g.attacker: g.after for g in found.guesses}["knows the quasi-identifiers exactly"] > 0.95
