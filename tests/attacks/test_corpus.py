"""The attacks other people found, on three databases that differ in Alice alone."""

import json
from pathlib import Path

import pytest
import yaml

from nowiser.sql.read.select import read
from nowiser.sql.tree import Literal, Released, parts
from support.worlds import ask, finite, noisy_columns

HERE = Path(__file__).parent
EXPECTED = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cases(real_data):
    path = real_data("attack_fixture").parent.parent / "attacks.jsonl"
    if not path.exists():
        pytest.skip("attacks.jsonl is not beside the folder of real tables")
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {case["id"]: case for case in found}


def written(case: dict) -> str:
    if case["id"] == "a171":  # the corpus describes this one instead of printing a megabyte
        return f"SELECT COUNT(*) FROM patients WHERE id IN ({','.join(map(str, range(1, 200_001)))})"
    return case["sql"]


def of_a_constant(policy, sql: str, i: int) -> bool:
    """VAR_POP(5) is zero whoever is there: everything this column is read from is of a number in the question."""
    query = read(sql, policy)
    used = [query.aggregates[p.index].argument for p in parts(query.outputs[i].expression) if isinstance(p, Released)]
    return all(isinstance(argument, Literal) for argument in used)


def same_everywhere(worlds: dict, sql: str) -> tuple:
    """The outcome, which must not tell the three databases apart."""
    outcomes = {name: ask(gateway, sql) for name, gateway in worlds.items()}
    seen = {name: outcome[0] for name, outcome in outcomes.items()}
    assert len(set(seen.values())) == 1, f"{sql[:200]}\ntells the databases apart: {seen}"
    first, answers = seen["with_alice"], [outcome[1] for outcome in outcomes.values()]
    if first.kind == "answered":
        for answer in answers:
            assert all(finite(v) for row in answer.rows for v in row), f"{sql}: a value that is no number"
            for i in noisy_columns(answer) if answer.rows else ():
                bars = answer.error[i] if isinstance(answer.error[i], list) else [answer.error[i]]
                noisy = all(bar is None or bar > 0 for bar in bars)
                assert noisy or of_a_constant(worlds["with_alice"].policy, sql, i), f"{sql}: column {i} has no noise"
        chosen = any(word in sql.upper() for word in ("PATIENTS", "VISITS", "ORDER BY", "HAVING", "LIMIT"))
        if not noisy_columns(answers[0]) and not chosen:  # rows chosen or ordered by noise may differ
            shown = {tuple(sorted(answer.rows, key=str)) for answer in answers}
            assert len(shown) == 1, f"{sql}: exact, and different where only secrets differ"
    return first, answers


def test_every_query_and_sequence_of_the_corpus_has_an_expected_outcome(cases):
    kinds = {"query": "queries", "sequence": "sequences"}
    for kind, section in kinds.items():
        assert {c["id"] for c in cases.values() if c["kind"] == kind} == set(EXPECTED[section])


@pytest.mark.parametrize("name", EXPECTED["queries"])
def test_query(name, cases, shared_worlds):
    must = EXPECTED["queries"][name]
    seen, answers = same_everywhere(shared_worlds, written(cases[name]))
    assert seen.kind in {"answered", "NotAnswerable"}, seen
    if must == "answered":
        assert seen.kind == "answered", seen.words
    if must == "refused":
        assert seen.refused, f"must be refused, was answered: {answers[0].to_json()[:300]}"
    if seen.kind == "answered":
        assert all(noisy_columns(a) for a in answers), (
            "every question of the corpus touches persons, so something is noisy"
        )


@pytest.mark.parametrize("name", EXPECTED["sequences"])
def test_sequence(name, cases, shared_worlds):
    steps = [
        step.replace("{k}", str(k)) for step in cases[name]["steps"] for k in ((3, 5, 7) if "{k}" in step else (0,))
    ]
    spent = []
    for step in steps:
        seen, _ = same_everywhere(shared_worlds, step)
        assert seen.kind in {"answered", "NotAnswerable"}, seen
        if EXPECTED["sequences"][name] == "answered":
            assert seen.kind == "answered", f"{step}: {seen.words}"
        if seen.kind == "answered" and not json.loads(seen.words)["stored"]:
            spent.append(seen.spent)
    assert len(spent) == len(set(spent)), "an answer that is not the stored one is charged"
