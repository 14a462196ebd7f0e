"""Rows without noise: like the real ones, and written only where simulated attackers gain no more than promised."""

import numpy as np
import pyarrow as pa
import pytest

import nowiser as nw
from nowiser.classical import release
from nowiser.classical.release import METHODS, draw
from nowiser.classical.values import near
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.table.micro_table import MicroTable
from support.commands import nowiser


def people(rows=600, seed=3):
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, rows)
    town = random.choice(["north", "south", "east"], rows, p=[0.5, 0.3, 0.2])
    sick = random.random(rows) < np.where(town == "north", 0.6, 0.1)
    pay = np.round(random.gamma(3, 10 * (1 + (age > 50)), rows), 2)
    pay = [None if random.random() < 0.1 else float(p) for p in pay]
    return pa.table({"age": age, "town": town, "sick": np.where(sick, "yes", "no"), "pay": pay})


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_like_the_real_ones_in_their_kinds(method):
    real = MicroTable.from_arrow(people(6000))
    drawn = draw(real, 4000, method, np.random.default_rng(1)).to_arrow()
    assert [str(t) for t in drawn.schema.types] == ["int64", "string", "string", "double"]
    table = drawn.to_pydict()
    assert np.mean(np.array(table["town"]) == "north") == pytest.approx(0.5, abs=0.03)
    if method == "sequential":  # a copula knows orders only, and towns have none
        north = [s == "yes" for s, t in zip(table["sick"], table["town"], strict=True) if t == "north"]
        east = [s == "yes" for s, t in zip(table["sick"], table["town"], strict=True) if t == "east"]
        assert np.mean(north) > np.mean(east) + 0.3
    old = [p for a, p in zip(table["age"], table["pay"], strict=True) if a > 60 and p is not None]
    young = [p for a, p in zip(table["age"], table["pay"], strict=True) if a < 40 and p is not None]
    assert np.mean(old) > 1.4 * np.mean(young)
    assert np.mean([p is None for p in table["pay"]]) == pytest.approx(0.1, abs=0.03)
    pays = [p for p in table["pay"] if p is not None]
    real_pays = {p for p in people(6000)["pay"].to_pylist() if p is not None}
    assert all(round(p, 2) == p for p in pays)
    assert min(real_pays) <= min(pays)
    assert max(pays) <= max(real_pays)
    again = draw(real, 4000, method, np.random.default_rng(1)).to_arrow()
    assert again.equals(drawn)


def test_numbers_come_back_between_their_neighbours():
    numbers = np.array([1.0, 2.0, 4.0, 10.0])
    drawn = near(numbers, np.repeat(np.arange(4), 500), np.random.default_rng(0)).reshape(4, -1)
    assert drawn.min() >= 1
    assert drawn.max() <= 10
    assert (drawn[2] >= 3).all()
    assert (drawn[2] <= 7).all()


def test_a_model_that_copies_its_rows_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    """The red team has power: it finds who is in the table, and what they have."""

    def copied(table, rows, random):
        order = random.permutation(table.rows)[:rows]
        return [c.codes[order] for c in table.columns]

    monkeypatch.setitem(release.METHODS, "copula", copied)
    monkeypatch.setattr(
        release, "back", lambda column, codes, _: type(column).of_codes(column.name, codes, column.values)
    )
    with pytest.raises(NotAnswerable, match=r"gain more by these rows than 20\.0 %"):
        nw.classical(people(), quasi=["age", "town", "pay"], sensitive=["sick"], gain="20%", method="copula",
                     output=tmp_path / "x.csv", report=tmp_path / "r.html", victims=200,
                     random=np.random.default_rng(5))  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_rows_that_tell_little_are_written_with_the_warning(tmp_path):
    made = nw.classical(people(), quasi=["age", "town"], sensitive=["sick"], gain=0.3, method="copula",
                        output=tmp_path / "x.csv", report=tmp_path / "r.html", victims=200,
                        random=np.random.default_rng(5))  # fmt: skip
    told = made.to_json()
    assert told["differential_privacy"] is False
    assert any(a["goal"] == "value" for a in told["attacks"])
    assert all(a["after"] - a["before"] <= 0.3 for a in told["attacks"])
    assert str(made).startswith("THESE ROWS HAVE NO DIFFERENTIAL PRIVACY")
    assert (tmp_path / "x.csv").read_text().startswith("age,town,sick,pay\n")
    assert "<html" in (tmp_path / "r.html").read_text()


NAMED = people().append_column("email", pa.array([f"p{i}@example.org" for i in range(600)]))
REFUSED = [
    ({"gain": "0%"}, Misconfigured, "above 0%"),
    ({"gain": 2.0}, Misconfigured, "below 100%"),
    ({"quasi": []}, Misconfigured, "attackers must be named"),
    ({"sensitive": []}, Misconfigured, "attackers must be named"),
    ({"method": "gan"}, Misconfigured, "Methods: sequential, copula"),
    ({"rows": 0}, Misconfigured, "at least 1"),
    ({"drop": ["height"]}, Misconfigured, "no column 'height' to drop"),
    ({"table": NAMED}, Misconfigured, "'email' names people or rows"),
    ({"table": people(20)}, Misconfigured, "fewer than 50 rows"),
    ({"output": "x.txt"}, Misconfigured, "must end in"),
    ({"report": "x.txt"}, Misconfigured, "must end in .html"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=[words for _, _, words in REFUSED])
def test_bad_input_is_told_before_anything_is_drawn(refused):
    options, kind, words = refused
    asked = {"table": people(), "quasi": ["age"], "sensitive": ["sick"], "gain": "10%"} | options
    with pytest.raises(kind) as error:
        nw.classical(asked.pop("table"), **asked)
    assert words in str(error.value)


def test_the_command_wants_attackers_named_and_warns_in_large_letters(tmp_path):
    import pyarrow.csv as pc

    pc.write_csv(people(300), tmp_path / "people.csv")
    alone = nowiser(tmp_path, "synth", "people.csv", "--method", "copula")
    assert alone.returncode == 3
    assert "--gain 10%" in alone.stderr
    under = nowiser(tmp_path, "synth", "people", "--method", "sequential", "--gain", "10%")
    assert under.returncode == 3
    assert "no promise over all answers could hold" in under.stderr
    made = nowiser(tmp_path, "synth", "people.csv", "--method", "copula", "--gain", "45%", "--quasi", "age,town",
                   "--sensitive", "sick", "--victims", "50", "--seconds", "1", "-o", "x.csv")  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("THESE ROWS HAVE NO DIFFERENTIAL PRIVACY")
    assert (tmp_path / "x.csv").exists()
