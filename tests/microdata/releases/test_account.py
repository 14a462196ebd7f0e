"""Counted releases of one policy enter its account: measured together, refused where they tell too much together."""

import json
import sqlite3
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import LedgerBroken, NotAnswerable
from nowiser.ledger.opening import for_policy
from nowiser.microdata.publish import release
from nowiser.model.charge import PICO, Account, Charge
from nowiser.policy.reader import read
from support.commands import nowiser
from support.released_people import opened, publish


def test_releases_that_are_harmless_one_by_one_are_refused_together(policy):
    heard = []
    publish(policy, ["town"], "one.csv")
    publish(policy, ["town"], "again.csv", notice=heard.append)  # the same levels tell nothing more
    assert "Measured together with 1 earlier release" in heard[-1]
    with pytest.raises(NotAnswerable, match=r"together with 2 earlier releases may tell .* \("):
        publish(policy, ["job"], "two.csv")
    assert not (policy.parent / "two.csv").exists()
    (policy.parent / "fresh").mkdir()
    for name in ("people.csv", "nowiser.yaml"):
        (policy.parent / "fresh" / name).write_bytes((policy.parent / name).read_bytes())
    publish(policy.parent / "fresh" / "nowiser.yaml", ["job"], "two.csv")  # alone it keeps the promise


def test_two_at_once_are_counted_one_after_the_other(policy):
    """Both are measured before either is entered; the second to be entered is measured again, and refused."""
    first = publish(policy, ["town"], "one.csv", enter=lambda *_: None)
    source, _ = opened(policy, ["town"])

    def late(candidate, run):
        known.check(candidate, run)
        publish(policy, ["town"], "meanwhile.csv")

    known, _ = opened(policy, ["job"])
    with pytest.raises(NotAnswerable, match="together with 1 earlier release"):
        publish(policy, ["job"], "two.csv", check=late, enter=known.enter)
    assert first.chosen.smallest > 1
    assert source.enter is not None
    assert not (policy.parent / "two.csv").exists()


def test_answers_given_so_far_count(policy):
    declared = read(policy)
    with for_policy(declared) as ledger:
        ledger.declare(declared)
        ledger.publish(
            Charge.of({Account("jump", ("people.ill",)): round(Fraction(12, 10) * 10**12)}),
            lambda *_: None,
            policy=declared.digest,
            what="an answer",
            analyst="custodian",
            digest="",
        )
    with pytest.raises(NotAnswerable, match="together with the answers given so far"):
        publish(policy, ["town"], "one.csv")


def test_nothing_is_built_on_a_record_that_is_gone(policy):
    publish(policy, ["town"], "one.csv")
    (policy.parent / "one.csv").unlink()  # the file is not needed: the ledger has what it showed
    publish(policy, ["town"], "two.csv")
    with sqlite3.connect(policy.parent / ".nowiser" / "ledger.sqlite") as database:
        database.execute("DELETE FROM nowiser_releases WHERE seq = (SELECT min(seq) FROM nowiser_releases)")
    with pytest.raises(LedgerBroken, match="changed or removed"):
        publish(policy, ["town"], "three.csv")
    assert nowiser(policy.parent, "ledger", "verify").returncode == 8


def test_after_a_release_in_a_stream_nothing_can_be_measured(policy):
    publish(policy, ["town"], "one.csv", stream=True)
    with pytest.raises(NotAnswerable, match="made in a stream"):
        publish(policy, ["town"], "two.csv")


def test_the_ledger_says_that_there_was_a_release(policy):
    publish(policy, ["town"], "one.csv")
    found = json.loads(nowiser(policy.parent, "ledger", "--json").stdout)
    assert [e["kind"] for e in found["entries"]].count("publication") == 1
    assert nowiser(policy.parent, "ledger", "verify").returncode == 0


def test_who_is_told_apart_in_another_way_cannot_be_measured_together(policy):
    """Two releases that are too much together, with `person` declared in between: everybody looked new, and 18 of 31
    points were printed."""
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("person: id", "person: each row"), encoding="utf-8")
    publish(policy, ["town"], "one.csv")
    policy.write_text(text, encoding="utf-8")
    assert nowiser(policy.parent, "ledger", "accept", "--reason", "declared late").returncode == 0
    with pytest.raises(NotAnswerable, match="told people apart by id, town, job, this one by id"):
        publish(policy, ["job"], "two.csv")


def test_another_version_of_the_policy_shows_the_same_rows_of_a_person(policy):
    lines = [f"{i // 3},{'abc'[i % 3]},p,{('flu', 'none', 'cold')[i // 7 % 3]}" for i in range(300)]
    (policy.parent / "people.csv").write_text("id,town,job,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    text = policy.read_text(encoding="utf-8")

    def shown(said):
        policy.write_text(said, encoding="utf-8")
        source, recipe = opened(policy, ["town"])
        return sorted(release(source.needed(), recipe, counting=source.counting).table.origin)

    assert shown(text) == shown(text.replace("gain: 30%", "gain: 29%"))


def several_rows(policy):
    """Half of the people have three rows of one town, all alike in their illness."""
    random = np.random.default_rng(2)
    lines = []
    for i in range(90):
        town, job, ill = random.choice(list("ab")), random.choice(list("pq")), random.choice(["flu", "none", "cold"])
        lines += [f"{i},{town},{job},{ill}"] * (3 if i % 2 else 1)
    (policy.parent / "people.csv").write_text("id,town,job,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    text = policy.read_text(encoding="utf-8").replace("    protect", "    rows_per_person: 3\n    protect")
    policy.write_text(text, encoding="utf-8")


def published(policy, quasi, name):
    source, recipe = opened(policy, quasi)
    hooks = {"check": source.check, "enter": source.enter, "counting": source.counting}
    return release(source.needed(), recipe, output=policy.parent / name, **hooks)


def test_of_people_with_several_rows_only_the_same_release_is_admitted_again(policy):
    several_rows(policy)
    published(policy, ["town"], "one.csv")
    published(policy, ["town"], "again.csv")
    with pytest.raises(NotAnswerable, match="have several rows in this release"):
        published(policy, ["job"], "two.csv")


def test_of_people_with_several_rows_persons_are_entered(policy):
    """What answers that follow are held to: the share of persons, as the file and whose rows they are show it."""
    several_rows(policy)
    made = published(policy, ["town"], "one.csv")
    out = made.to_pandas()
    out["id"] = pd.read_csv(policy.parent / "people.csv")["id"].to_numpy()[made.table.origin]
    people = out.drop_duplicates(["id", "ill"])
    inside = people.groupby("town")["ill"].value_counts() / out.groupby("town")["id"].nunique()
    with for_policy(read(policy)) as ledger:
        told = [a for a, _ in ledger.totals().amounts if a.kind == "told"]
        lifted = [
            1 / (1 + (1 / float(a.about[1]) - 1) / np.exp(n / PICO)) for a, n in ledger.totals().amounts if a in told
        ]
    assert max(lifted) == pytest.approx(inside.max(), abs=1e-6)
    assert {a.about[2] for a in told} == {"4"}  # her record, and three others that take her rows' secrets
