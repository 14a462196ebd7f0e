"""Two texts with one meaning have one digest; the ledger's copy of a policy is the policy."""

import json

import pytest

from nowiser.errors import Misconfigured
from nowiser.examples import canteen, hospital
from nowiser.model.prior import Frozen
from nowiser.policy import canonical, canonical_text, digest, from_canonical, parse

RICH = """
nowiser: 1
version: 3
engine: duckdb:///a.duckdb
ledger: sqlite:///l.sqlite
delta: 1e-7
analysts: {bob: 30%, ann: 50%}
independent: [[t.a, t.b], [t.c]]
tables:
  t:
    person: [p, q]
    csv: {delimiter: ";", quote: "'"}
    presence: 10%
    groups_per_person: 3
    rows_per_person: 5
    unique: [[p, q]]
    columns:
      p: identifier
      q: {identifier: integer}
      a: {sensitive: [0, 9], kind: integer, one_per_person: true, prior: {normal: {mean: 4, sd: 2}}}
      b: {sensitive: [0, 9], grid: 0.1, prior: {lognormal: {mean: 1, sd: 1}}}
      c: {sensitive: [x, y], prior: {categories: {x: 30%, y: 70%}}}
      d: {sensitive: [0, 9], prior: {histogram: {edges: [0, 3, 9], weights: [1, 2]}}}
      e: {sensitive: [0, 9], prior: {uniform: [2, 7]}}
      f: {sensitive: boolean, nullable: true, prior: uniform}
      g: {sensitive: [2020-01-01, 2020-12-31], prior: uniform}
      h: {sensitive: text}
      i: {public: [2, 1]}
  u: {person: {p: t.p, q: t.q}, references: {q: t.q, p: t.p}, columns: {p: identifier, q: {identifier: integer}, z: {sensitive: [1, 2, 3]}}}
attackers:
  - {guess: "t.a within 1 and not t.c in {x}", gain: 5%}
  - {guess: present in t, gain: 2.5%}
""".replace("i: {public: [2, 1]}", "i: {public: {values: [2, 1]}}")
TEXTS = [canteen.POLICY, hospital.POLICY.format(format="csv"), RICH]


@pytest.mark.parametrize("text", TEXTS)
def test_there_and_back(text):
    policy = parse(text)
    stored = json.loads(json.dumps(canonical(policy)))
    again = from_canonical(stored)
    assert canonical(again) == canonical(policy)
    assert again.digest == policy.digest == digest(policy)
    assert again.priors == policy.priors
    assert {t.name: t.person for t in again.tables} == {t.name: t.person for t in policy.tables}
    assert {str(a.goal) for a in again.attackers} == {str(a.goal) for a in policy.attackers}


def test_a_word_that_says_nothing_new_leaves_the_digest():
    said = RICH.replace("d: {sensitive: [0, 9]", "d: {sensitive: [0, 9], one_per_person: false")
    assert parse(said).digest == parse(RICH).digest
    assert parse(RICH.replace("one_per_person: true, ", "")).digest != parse(RICH).digest


def test_comments_order_quotes_and_spelling_of_numbers_mean_nothing():
    other = """
answers: {"spend": 0.05}
attackers: [{gain: 0.050, guess: "visits.time  within 2.0"}]
tables:
    visits:
        columns:
            time: {prior: {normal: {sd: 5.0, mean: 2e1}}, sensitive: {range: [0.0, 60]}, kind: real}
            faculty: {public: {values: ["math", 'computer science']}}
            student: {identifier: text}
        protect: "values"
        person: [student]
        source: canteen.csv
nowiser: 1
"""
    assert canonical_text(parse(other)) == canonical_text(parse(canteen.POLICY))


def test_how_a_file_is_written_means_something_and_what_is_not_said_nothing():
    said = [canteen.POLICY.replace("    person:", f"    csv: {{{csv}}}\n    person:", 1) for csv in ("", "quote: none")]
    assert len({parse(text).digest for text in (canteen.POLICY, *said)}) == 3
    assert "csv" not in canonical(parse(canteen.POLICY))["tables"]["visits"]
    assert (
        parse(canteen.POLICY).digest == "8a9541fcbe59a768cd6af3c8dd4fe91e9cd0fbcb277da1ccefeab60241083c1c"
    )  # as before 0.1.1


def test_the_order_of_declared_values_means_something():
    swapped = canteen.POLICY.replace("[math, computer science]", "[computer science, math]")
    assert parse(swapped).digest != parse(canteen.POLICY).digest


def test_where_the_file_stands_means_nothing():
    assert parse(canteen.POLICY, "/elsewhere/p.yaml").digest == parse(canteen.POLICY).digest


def test_what_is_not_a_recorded_policy():
    with pytest.raises(Misconfigured, match="format 1"):
        from_canonical({})
    stored = canonical(parse(canteen.POLICY))
    stored["priors"]["visits.time"] = {"is": "oracle"}
    with pytest.raises(Misconfigured, match="unknown kind 'oracle'"):
        from_canonical(stored)


def test_a_prior_the_file_cannot_state_has_no_canonical_form():
    policy = parse(canteen.POLICY)
    policy.priors["visits.time"] = Frozen("gamma", 2)
    with pytest.raises(Misconfigured, match="Frozen"):
        canonical(policy)
