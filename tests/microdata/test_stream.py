"""A table that stays in its file gives the same release as one in memory."""

import gc

import numpy as np
import pyarrow as pa
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.publish import publish
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.write import write_table
from support.tables import random_table


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("seed", range(3))
def test_streamed_and_in_memory_releases_are_the_same_rows(tmp_path, seed, suffix):
    table, specs = random_table(np.random.default_rng(seed), quasi=3, rows=300)
    source = tmp_path / f"table{suffix}"
    write_table(table, source)
    trees = {n: [r if r[-1] == "*" else [*r, "*"] for r in spec] for n, spec in specs.items()}
    options = {"quasi": trees, "sensitive": "s", "k": 4, "gain": 0.5, "suppress": "10%", "steps": ["generalise"]}
    outs = []
    for stream in (False, True):
        made = publish(source, output=tmp_path / f"out{stream}.csv", stream=stream, **options)
        outs.append((made.chosen.levels, made.chosen.suppressed, made.chosen.rows, made.chosen.gain))
        assert made.rechecked["k-anonymity"] >= 4
    assert outs[0] == outs[1]
    first, second = (sorted((tmp_path / f"out{s}.csv").read_text().splitlines()) for s in (False, True))
    assert first == second


def test_missing_values_of_a_hierarchy_are_counted_in_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,s\n" + "x,1\n" * 5 + "y,1\n" * 7, encoding="utf-8")
    with pytest.raises(Misconfigured, match=r"'y' \(7 rows\)"):
        publish(tmp_path / "t.csv", quasi={"a": [["x", "*"]]}, sensitive="s", k=2, stream=True)


def test_only_generalisation_works_in_a_stream(tmp_path):
    (tmp_path / "t.csv").write_text("a,s\nx,1\ny,2\n", encoding="utf-8")
    with pytest.raises(Misconfigured, match="only be generalised"):
        publish(tmp_path / "t.csv", quasi=["a"], sensitive="s", k=2, stream=True, steps=["mondrian"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "there is no file"),
        ("none.parquet", None, "there is no file"),
        ("ragged.csv", b"age,ill\n1,a\n2,b,3\n", "line 3 has 3"),
        ("latin.csv", b"age,ill\n1,a\n2,\xe9\n", "is not UTF-8"),
        ("no.parquet", b"hello", "is not a parquet file"),
    ],
)
def test_files_that_cannot_be_read_are_refused_in_words(tmp_path, name, content, words):
    source, output = tmp_path / name, tmp_path / "out.csv"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(Misconfigured, match=words):
        publish(source, quasi=["age"], sensitive=["ill"], k=1, steps=["generalise"], output=output, stream=True)
    assert not output.exists()


def test_what_exceeds_the_memory_goes_to_disk_and_is_taken_away(tmp_path, monkeypatch):
    from nowiser.microdata.table import in_duckdb

    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(in_duckdb, "MEMORY", 110 * 2**20)
    monkeypatch.setattr(in_duckdb.tempfile, "tempdir", str(room))
    random = np.random.default_rng(0)
    rows = 700_000  # their strings, sorted at random, take more than that
    columns = [Column.of(f"q{j}", random.integers(0, 5, rows).tolist()) for j in range(3)]
    filler = pa.array([f"{n:060d}" for n in range(5000)]).take(pa.array(random.integers(0, 5000, rows)))
    write_table(MicroTable.of([*columns, Column.of("remark", filler)]), tmp_path / "big.csv")
    made = publish(
        tmp_path / "big.csv",
        quasi=["q0", "q1", "q2"],
        keep=["remark"],
        k=5,
        steps=["generalise"],
        output=tmp_path / "out.csv",
        stream=True,
    )
    assert made.rows == rows
    assert made.rechecked["k-anonymity"] >= 5
    del made
    gc.collect()
    assert list(room.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "big.csv",
        "out.codebook.json",
        "out.csv",
        "out.report.html",
        "room",
    ]


def test_a_column_is_unique_by_rows_not_by_combinations(tmp_path):
    lines = "".join(f"{i % 20},{'ab'[i % 2]}\n" for i in range(200))  # every age has one illness
    (tmp_path / "t.csv").write_text("age,ill\n" + lines, encoding="utf-8")
    options = {"quasi": ["age"], "sensitive": ["ill"], "k": 2, "steps": ["generalise"]}
    assert publish(tmp_path / "t.csv", stream=True, **options).chosen.smallest == 10
    (tmp_path / "u.csv").write_text("age,ill\n" + "".join(f"{i},a\n" for i in range(30)), encoding="utf-8")
    with pytest.raises(Misconfigured, match="each of the 30 rows"):
        publish(tmp_path / "u.csv", stream=True, **options)
