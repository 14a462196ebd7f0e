"""What an edition tightens and loosens."""

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.policy import Effect, compare, parse

BASE = """\
nowiser: 1
delta: 1e-9
analysts: {ann: 50%}
tables:
  t:
    person: p
    rows_per_person: 2
    protect: persons
    presence: 10%
    unique: [[p, day]]
    columns:
      p: identifier
      day: {public: [1, 2, 3]}
      shift: {public: [early, late]}
      x: {sensitive: [0, 60], prior: uniform}
      y: {sensitive: [0, 60]}
      z: {sensitive: [a, b], nullable: true}
  w: {public: true, columns: {k: public}}
attackers:
  - {guess: t.x within 2, gain: 5%}
  - {guess: present in t, gain: 5%}
answers: {spend: 5%}
"""

EDITS = [
    # old, new, expected effect of the strongest change
    ("within 2, gain: 5%", "within 2, gain: 6%", Effect.LOOSENS),
    ("within 2, gain: 5%", "within 2, gain: 4%", Effect.TIGHTENS),
    ("  - {guess: present in t, gain: 5%}\n", "", Effect.LOOSENS),
    ("attackers:\n", "attackers:\n  - {guess: t.z exactly, gain: 5%}\n", Effect.TIGHTENS),
    ("within 2", "within 3", Effect.LOOSENS),
    ("prior: uniform", "prior: unknown", Effect.TIGHTENS),
    ("prior: uniform", "prior: {normal: {mean: 20, sd: 5}}", Effect.LOOSENS),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 60], prior: uniform}", Effect.LOOSENS),
    ("presence: 10%", "presence: 20%", Effect.LOOSENS),
    ("    presence: 10%\n", "", Effect.TIGHTENS),
    ("rows_per_person: 2", "rows_per_person: 3", Effect.NEUTRAL),
    ("    rows_per_person: 2", "    rows_per_person: 2\n    groups_per_person: 2", Effect.NEUTRAL),
    ("delta: 1e-9", "delta: 1e-8", Effect.LOOSENS),
    ("delta: 1e-9", "delta: 0", Effect.TIGHTENS),
    ("delta: 1e-9", "delta: 1e-9\nkey_delta: 1e-8", Effect.LOOSENS),
    ("analysts: {ann: 50%}", "analysts: {ann: 60%}", Effect.NEUTRAL),
    ("nowiser: 1", "nowiser: 1\nindependent: [[t.x], [t.y]]", Effect.LOOSENS),
    ("      z: {sensitive: [a, b], nullable: true}\n", "", Effect.LOOSENS),  # its charges no longer count for t.x
    ("      x: {", "      v: {sensitive: [0, 1]}\n      x: {", Effect.LOOSENS),
    ("y: {sensitive: [0, 60]}", "y: {public: [0, 60]}", Effect.LOOSENS),
    ("shift: {public: [early, late]}", "shift: {sensitive: [early, late]}", Effect.TIGHTENS),
    ("day: {public: [1, 2, 3]}", "day: {public: [1, 2, 3, 4]}", Effect.NEUTRAL),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 50]}", Effect.LOOSENS),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 70]}", Effect.NEUTRAL),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 60], kind: integer}", Effect.LOOSENS),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 60], grid: 0.1}", Effect.NEUTRAL),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 60], nullable: true}", Effect.TIGHTENS),
    ("nullable: true", "nullable: false", Effect.LOOSENS),
    ("y: {sensitive: [0, 60]}", "y: {sensitive: [0, 60], one_per_person: true}", Effect.LOOSENS),
    ("    unique: [[p, day]]\n", "", Effect.TIGHTENS),
    ("unique: [[p, day]]", "unique: [[p, day], p]", Effect.LOOSENS),
    ("    unique: [[p, day]]", "    unique: [[p, day]]\n    references: {p: t.p, day: t.day}", Effect.LOOSENS),
    ("person: p", "person: [p, q]", Effect.LOOSENS),
    ("  w: {public: true, columns: {k: public}}\n", "", Effect.NEUTRAL),
    ("  w: {", "  v: {public: true, columns: {k: public}}\n  w: {", Effect.NEUTRAL),
    ("  w: {", "  v: {person: k, columns: {k: identifier}}\n  w: {", Effect.LOOSENS),
    ("w: {public: true, columns: {k: public}}", "w: {person: k, columns: {k: identifier}}", Effect.LOOSENS),
    ("spend: 5%", "spend: 10%", Effect.NEUTRAL),
    ("nowiser: 1", "nowiser: 1\nversion: 2", Effect.NEUTRAL),
    ("    person: p\n", "    person: p\n    csv: {delimiter: tab}\n", Effect.NEUTRAL),
    ("nowiser: 1", "nowiser: 1\nengine: spark", Effect.NEUTRAL),
    ("nowiser: 1", "nowiser: 1\nledger: sqlite:///x", Effect.NEUTRAL),
    ("    person: p", "    source: t2.csv\n    person: p", Effect.NEUTRAL),
    ("within 2, gain: 5%", "within 2, gain: 5%, promise: every answer", None),
    ("within 2, gain: 5%", "within 2, gain: 5%, promise: on average", Effect.LOOSENS),
    ("within 2, gain: 5%", "within 2, gain: 1%, promise: on average", Effect.LOOSENS),
    ("attackers:\n", "attackers:\n  - {guess: t.x within 2, gain: 1%, promise: on average}\n", Effect.TIGHTENS),
]  # fmt: skip


def edited(*edits):
    text = BASE
    for old, new, _ in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    if "person: [p, q]" in text:
        text = text.replace("      p: identifier\n", "      p: identifier\n      q: identifier\n")
    return parse(text)


def strongest(changes):
    effects = {change.effect for change in changes}
    order = (Effect.LOOSENS, Effect.TIGHTENS, Effect.NEUTRAL)
    return next((effect for effect in order if effect in effects), None)


def test_from_average_to_every_answer_tightens():
    """But for its own gain, which is named as gone: what is kept for every answer is kept on average."""
    average = parse(BASE.replace("within 2, gain: 5%", "within 2, gain: 5%, promise: on average"))
    both = parse(BASE.replace("attackers:\n", "attackers:\n  - {guess: t.x within 2, gain: 5%, promise: on average}\n"))
    assert strongest(compare(average, both)) is Effect.TIGHTENS
    (lost,) = compare(both, average).loosened
    assert lost == "attackers: `t.x within 2` is no longer defended for every answer, only on average"
    assert strongest(compare(average, parse(BASE))) is Effect.TIGHTENS


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0].strip()} → {edit[1].strip()}"[:70])
def test_every_edit_has_its_effect(edit):
    changes = compare(edited(), edited(edit))
    assert strongest(changes) is edit[2], [str(c) for c in changes]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0].strip()} → {edit[1].strip()}"[:70])
def test_undoing_what_tightens_loosens(edit):
    if edit[2] is Effect.TIGHTENS:
        assert compare(edited(edit), edited()).loosened


def test_protecting_only_values_loosens_and_back_tightens():
    values = edited(("protect: persons\n    presence: 10%", "protect: values", None), EDITS[2])
    persons = edited(EDITS[2])
    assert "t: protects values, was persons" in compare(persons, values).loosened
    assert "t: protects persons, was values" in compare(values, persons).tightened


def test_the_same_policy_has_no_changes():
    assert len(compare(edited(), edited())) == 0


def test_lines_name_what_they_are_about():
    changes = compare(edited(), edited(EDITS[0], EDITS[12]))
    assert changes.loosened == (
        "attackers: `t.x within 2` may gain 6%, was 5%",
        "delta: the promise may fail with probability 1e-08, was 1e-09",
    )
    assert [c.to_json()["effect"] for c in changes] == ["loosens", "loosens"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(EDITS), max_size=4, unique_by=lambda edit: edit[0]))
def test_changes_are_empty_exactly_when_the_meaning_is_the_same(edits):
    try:
        new = edited(*edits)
    except AssertionError:
        return  # edits of overlapping lines
    except Misconfigured:
        return  # combinations that are no policy
    old = edited()
    assert (len(compare(old, new)) == 0) == (old.digest == new.digest)
    if any(effect is Effect.LOOSENS for _, _, effect in edits):
        assert compare(old, new).loosened
