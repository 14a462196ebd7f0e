"""`nw.attack` on tables of histories: films with ratings and days, places of trails, searches; and what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import nowiser as nw
from nowiser.attacks.sparse.game import made_up
from support.commands import nowiser


def films(seed, people=200):
    h = made_up(people, 900, np.random.default_rng(seed), entries=30)
    item = np.repeat(np.arange(len(h.start) - 1), np.diff(h.start))
    return pa.table({"user": h.person, "film": item, "rating": h.value, "day": h.day})


def visits(seed=0, people=200, places=18):
    random = np.random.default_rng(seed)
    was = random.random((people, places)) < 0.3
    number = random.permutation(people)
    who, where = np.nonzero(was)
    records = pa.table({"record": [f"r{number[w]}" for w in who], "place": [f"h{p}" for p in where]})
    lists = pa.table({"name": [f"n{w}" for w in who], "place": [f"h{p}" for p in where]})
    truth = pa.table({"record": [f"r{k}" for k in number], "name": [f"n{k}" for k in range(people)]})
    return records, lists, truth, was


def test_a_few_dated_ratings_find_the_record():
    table = films(1)
    found = nw.attack(table, original=table, person="user", item="film", value="rating", date="day", seed=1)
    assert {o.attack for o in found.outcomes} == {"scoreboard", "likelihood score"}
    for o in found.outcomes:
        assert o.after.value > 0.8
        assert o.curve[0] == (0.0, 0.0)
        assert o.curve[-1][0] + o.curve[-1][1] == pytest.approx(1)
    wrong = {o.attack: o.misnamed.value for o in found.outcomes}
    assert wrong["likelihood score"] <= 0.025  # whose record was taken out
    assert wrong["scoreboard"] >= 0.1
    fewer = nw.attack(table.select(["user", "film"]), original=table, person="user", item="film", known=2, seed=1)
    assert max(o.after.value for o in fewer.outcomes) < 0.8


def test_ratings_of_other_people_find_nobody():
    mine, others = films(1), films(2)
    found = nw.attack(others, original=mine, person="user", item="film", value="rating", date="day", seed=1)
    assert all(o.after.low <= o.before.value for o in found.outcomes)


def test_days_are_read_from_dates_numbers_and_seconds():
    table = films(1, people=60)
    day = table["day"].to_numpy()
    seconds = pa.array((day * 86400).astype(np.int64) + 1_500_000_000)
    dates = seconds.cast(pa.timestamp("s"))
    said = []
    for column in (table["day"], seconds, dates):
        here = table.set_column(3, "day", column)
        (o,) = nw.attack(
            here, original=here, person="user", item="film", date="day", seed=1, only=["likelihood score"]
        ).outcomes
        said.append(o.after.value)
    assert said[1] == said[2]
    assert min(said) > 0.8


def test_trails_join_two_lists_without_a_common_number():
    records, lists, truth, was = visits()
    found = nw.attack(records, original=truth, aux=lists, identity="name", person="record", item="place", seed=1)
    (o,) = found.outcomes
    _, many = np.unique(was, axis=0, return_counts=True)
    assert was.any(axis=1).all()
    assert o.attack == "trails"
    assert o.after.right == (many == 1).sum()  # who shares no trail is found, nobody else is named
    assert o.precision.value == 1


def test_a_record_that_misses_places_is_named_only_when_that_is_certain():
    records, lists, truth, _ = visits()
    kept = np.random.default_rng(3).random(records.num_rows) < 0.85
    found = nw.attack(
        records.filter(pa.array(kept)),
        original=truth,
        aux=lists,
        identity="name",
        person="record",
        item="place",
        seed=1,
    )
    (o,) = found.outcomes
    assert 0.2 < o.claimed < 1
    assert o.precision.value == 1


def test_searches_and_a_list_of_names_and_towns():
    rows = [(1000 + k, q) for k in range(150) for q in ("cats", f"weather town{k % 10}", f"fam{k} tree", "map")]
    log = pa.table({"user": [u for u, _ in rows], "query": [q for _, q in rows]})
    folk = pa.table({"name": [f"Fam{k} Ann" for k in range(150)], "town": [f"town{k % 10}" for k in range(150)]})
    truth = pa.table({"user": range(1000, 1150), "name": folk["name"]})
    (o,) = nw.attack(log, original=truth, aux=folk, identity="name", person="user", item="query", seed=1).outcomes
    assert o.attack == "search log"
    assert o.after.value > 0.95


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"person": None}, "whose an entry is"),
        ({"item": "book"}, "no column 'book'"),
        ({"value": "stars"}, "no column 'stars'"),
        ({"value": "title"}, "must hold a number in every row"),
        ({"known": 0}, "at least 1 entry"),
        ({"known": 500}, "nobody has 500 entries"),
        ({"aux": pa.table({"name": ["a"]})}, "needs a column that names people"),
    ],
)
def test_what_does_not_fit_is_told(options, match):
    table = films(1, people=40)
    table = table.append_column("title", pa.array(["x"] * table.num_rows))
    given = {"original": table, "person": "user", "item": "film", "seed": 1} | options
    with pytest.raises(nw.Misconfigured, match=match):
        nw.attack(table, **given)


def test_numbers_that_the_original_does_not_know_are_told():
    table = films(1, people=40)
    renamed = table.set_column(0, "user", pa.array([f"u{k}" for k in table["user"].to_pylist()]))
    with pytest.raises(nw.Misconfigured, match="nobody can say whose record is whose"):
        nw.attack(renamed, original=table, person="user", item="film", seed=1)


def test_the_command(tmp_path):
    table = films(1, people=120)
    pc.write_csv(table, tmp_path / "films.csv")
    args = ["attack", "films.csv", "--original", "films.csv", "--person", "user", "--item", "film", "--date", "day"]
    done = nowiser(tmp_path, *args, "--known", "4", "--seed", "1", "--json", "-o", "report.html")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert all(o["curve"] for o in content["outcomes"])
    assert "Which record is whose?" in (tmp_path / "report.html").read_text()
    said = nowiser(tmp_path, *args, "--seed", "1")
    assert "of people whose record was taken out he names" in " ".join(said.stdout.split())
