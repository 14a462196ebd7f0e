"""Attackers under a policy know its public columns, all releases, and what links their rows; each test an old breach."""

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.for_policy import from_policy
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse
from nowiser.microdata.releases.contradictions import contradict
from nowiser.microdata.releases.record import record
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    rows_per_person: 2
    protect: values
    columns:
      id: identifier
      town: {public: [a, b]}
      job: {public: [p, q]}
      ill: {sensitive: {values: [flu, none]}, nullable: false}
      code: {sensitive: {values: [c0, c1]}, nullable: false}
attackers:
  - {guess: people.ill exactly, gain: 30%}
"""
TOWN, JOB = {"town": "flat"}, {"job": "flat"}
PRAM = {"pram": {"columns": "ill", "keep": 0.9}}


@pytest.fixture
def folder(tmp_path):
    """Illness follows from the job, and from a code; towns tell nothing."""
    frame = pd.DataFrame({"id": range(40), "town": list("ab") * 20, "job": list("ppqq") * 10})
    frame["ill"] = frame["job"].map({"p": "flu", "q": "none"})
    frame["code"] = frame["job"].map({"p": "c0", "q": "c1"})
    frame["shoe"] = range(40)
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def published(folder, quasi, sensitive, name="out.csv", *, keep=(), steps=(), **more):
    source = from_policy(folder / "nowiser.yaml", None, None)
    fixed = {"generalise": {"levels": dict.fromkeys(quasi, 0)}}
    recipe = {"quasi": quasi, "sensitive": sensitive, "keep": list(keep), "steps": [*steps, fixed]}
    hooks = {"check": source.check, "enter": source.enter, "counting": source.counting}
    return release(source.needed(), source.promised(parse(recipe)), output=folder / name, **hooks, **more)


def test_a_column_that_links_rows_of_two_releases_tells_what_the_first_showed_of_them(folder):
    """Codes by job, once it is known which code has which illness: 50 % → 100 %."""
    published(folder, TOWN, ["ill", "code"], "one.csv")
    with pytest.raises(NotAnswerable, match=r"together with 1 earlier release may tell 50\.0 %"):
        published(folder, JOB, ["code"], "two.csv")
    one = pd.read_csv(folder / "one.csv")
    assert len(one[["code", "ill"]].drop_duplicates()) == 2  # so whoever has the code of a job has its illness


def test_a_public_column_that_is_kept_is_known(folder):
    with pytest.raises(NotAnswerable, match="may tell"):
        published(folder, TOWN, ["ill"], keep=["job"])


def test_so_it_is_where_people_have_several_rows(folder):
    rows = pd.read_csv(folder / "people.csv")
    pd.concat([rows, rows.head(8)]).to_csv(folder / "people.csv", index=False)
    with pytest.raises(NotAnswerable, match="may tell"):
        published(folder, TOWN, ["ill"], keep=["job"])


def test_so_it_is_where_values_are_perturbed(folder):
    """What ill was said to be, averaged over everybody with that job: the policy's attackers read it too."""
    with pytest.raises(NotAnswerable, match="may gain"):
        published(folder, TOWN, ["ill"], keep=["job"], steps=[PRAM])


def test_so_it_is_where_rows_stay_in_their_file(folder):
    with pytest.raises(NotAnswerable, match="'job' is public"):
        published(folder, TOWN, ["ill"], keep=["job"], stream=True)


@pytest.mark.parametrize(("keep", "stream"), [(["shoe"], False), (["shoe"], True), (["*"], False), (["*"], True)])
def test_nothing_is_released_whose_role_nobody_said(folder, keep, stream):
    with pytest.raises(Misconfigured, match="the policy, and the recipe releases it as it is"):
        published(folder, TOWN | JOB, ["code"], keep=keep, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_the_order_of_rows_tells_whose_they_are(folder, stream):
    with pytest.raises(NotAnswerable, match="in the order of the original tell whose they are"):
        published(folder, TOWN, ["ill"], keep_order=True, stream=stream)


def test_one_changed_value_is_noticed_and_a_new_person_is_not_one(folder):
    """Who knows that only hers changed would subtract one file from the other."""
    published(folder, TOWN, ["ill"], "one.csv")
    rows = pd.read_csv(folder / "people.csv")
    new = pd.DataFrame([{**rows.loc[0], "id": 99}, {**rows.loc[2], "id": 98}])
    pd.concat([rows, new]).to_csv(folder / "people.csv", index=False)
    published(folder, TOWN, ["ill"], "more.csv")
    rows.loc[0, "ill"] = "none"
    rows.to_csv(folder / "people.csv", index=False)
    with pytest.raises(NotAnswerable, match="values of people were changed"):
        published(folder, TOWN, ["ill"], "two.csv")


def shown(people, group, values):
    table = MicroTable.of([Column.of("g", group), Column.of("ill", values)])
    return record(table, np.asarray(people, np.uint64), ["g"], ["ill"])


def test_releases_of_the_same_values_never_contradict_and_others_do_where_counts_say_so():
    random, noticed = np.random.default_rng(4), 0
    for _ in range(300):
        values, groups = random.choice(list("ab"), 9), random.integers(0, 3, (2, 9))
        here = [np.flatnonzero(random.random(9) < 0.8) for _ in range(2)]
        if not all(map(len, here)):
            continue
        one, two = (shown(h, g[h], values[h].tolist()) for h, g in zip(here, groups, strict=True))
        assert not contradict(one, two, ["ill"])
        other = np.where(random.random(9) < 0.3, random.choice(list("ab"), 9), values)
        assert not (other == values).all() or not contradict(one, two, ["ill"])
        changed = shown(here[1], groups[1][here[1]], other[here[1]].tolist())
        noticed += contradict(one, changed, ["ill"])
    assert noticed > 50
