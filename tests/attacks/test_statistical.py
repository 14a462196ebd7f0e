"""Attackers who do everything right: they know all other rows, know the noise, and still do not beat the figure.

Each attack also runs against exact answers, where it must succeed: an attack that cannot win proves nothing.
"""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from nowiser.errors import Exhausted
from nowiser.gateway import Gateway
from nowiser.policy import read
from support.memory_ledger import MemoryLedger

MEMBERSHIP = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    presence: 50%
    columns: {id: {identifier: integer}, vip: {sensitive: boolean, nullable: false}}
attackers: [{guess: present in t, gain: 25%}]
answers: {spend: 25%}
"""
BITS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    columns: {id: {identifier: integer}, vip: {sensitive: {values: ["0", "1"]}, nullable: false, prior: {categories: {"0": 0.5, "1": 0.5}}}}
attackers: [{guess: t.vip exactly, gain: 20%}]
answers: {spend: 1%}
"""
VALUES = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: values
    columns: {id: {identifier: integer}, x: {sensitive: [0, 60], nullable: false, prior: {uniform: [12, 28]}}}
attackers: [{guess: t.x within 2, gain: 20%}]
answers: {spend: 10%}
"""


def opened(folder: Path, policy: str, rows: list[str]) -> Gateway:
    folder.mkdir(exist_ok=True)
    (folder / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "nowiser.yaml").write_text(policy, encoding="utf-8")
    return Gateway(read(folder / "nowiser.yaml"), account=MemoryLedger())


def again(gateway: Gateway) -> None:
    """A new account for the next trial, on the same data."""
    gateway._ledger = MemoryLedger()


def after(gateway: Gateway) -> float:
    return gateway.allowance()["guesses"][0]["after"]


def test_asking_four_ways_whether_she_is_there_gives_the_printed_certainty_and_no_more(tmp_path):
    """Averaging and differencing over the whole allowance, with the likelihoods known exactly.

    Among the outcomes most telling of "she is there", the share where she is must be the printed `after`.
    """
    people = ["id,vip", *(f"{i},false" for i in range(2, 30))]
    worlds = {
        1: opened(tmp_path / "in", MEMBERSHIP, [*people, "1,true"]),
        0: opened(tmp_path / "out", MEMBERSHIP, people),
    }
    questions = [
        ("SELECT COUNT(*) FROM t WHERE vip", 0),
        ("SELECT COUNT(*) FROM t WHERE id = 1", 0),
        ("SELECT COUNT(*) FROM t WHERE NOT (id > 1)", 0),
        ("SELECT SUM(1) FROM t WHERE id < 2 OR vip", 0),
    ]
    telling = {0: 0, 1: 0}
    trials, promised = 300, 0.0
    for _ in range(trials):
        for truth, gateway in worlds.items():
            again(gateway)
            found = [gateway.query(sql, anyway=True).rows[0][0] - known for sql, known in questions]
            promised = max(promised, after(gateway))
            telling[truth] += all(y >= 1 for y in found)  # every answer points at her: the largest likelihood ratio
    for gateway in worlds.values():
        gateway.close()
    seen = telling[0] + telling[1]
    share = telling[1] / seen
    assert promised <= 0.75 + 1e-9
    spread = 5 * math.sqrt(promised * (1 - promised) / seen)
    assert share <= promised + spread, (
        f"she is there in {share:.1%} of the telling outcomes, {promised:.1%} were promised"
    )
    assert share >= promised - spread, f"the promise is far from tight: {share:.1%} of {promised:.1%}"


def decode(queries: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Dinur and Nissim: the bits that fit the answers best in the sum of absolute errors, by a linear programme."""
    from scipy.optimize import linprog

    m, n = queries.shape
    cost = np.concatenate([np.zeros(n), np.ones(m)])
    upper = np.block([[queries, -np.eye(m)], [-queries, -np.eye(m)]])
    found = linprog(cost, A_ub=upper, b_ub=np.concatenate([answers, -answers]), bounds=[(0, 1)] * n + [(0, None)] * m)
    return (found.x[:n] > 0.5).astype(int)


def test_reconstruction_by_linear_programme_stays_below_the_printed_after(tmp_path):
    toss = np.random.default_rng(5)
    n, right, total, exactly = 40, 0, 0, []
    promised = 0.0
    for trial in range(4):
        bits = toss.integers(0, 2, n)
        gateway = opened(tmp_path / str(trial), BITS, ["id,vip", *(f"{i},{b}" for i, b in enumerate(bits))])
        queries, answers = [], []
        while True:
            chosen = np.flatnonzero(toss.integers(0, 2, n))
            try:
                answer = gateway.query(
                    f"SELECT COUNT(*) FROM t WHERE vip = '1' AND id IN ({', '.join(map(str, chosen))})", anyway=True
                )
            except Exhausted:
                break
            queries.append(np.isin(np.arange(n), chosen).astype(float))
            answers.append(answer.rows[0][0])
        assert len(queries) >= 90, "a hundred questions of 1 % each"
        promised = max(promised, after(gateway))
        gateway.close()
        matrix = np.array(queries)
        exactly.append((decode(matrix, matrix @ bits) == bits).mean())
        right += int((decode(matrix, np.array(answers, float)) == bits).sum())
        total += n
    assert min(exactly) > 0.95, "against exact answers the attack reconstructs the table"
    assert promised <= 0.7 + 1e-9
    assert right / total <= promised + 5 * math.sqrt(0.25 / total), (
        f"{right / total:.1%} of the bits, {promised:.1%} promised"
    )


def test_ten_questions_about_one_value_do_not_place_it_better_than_promised(tmp_path):
    """`protect: values`: every other value known, ten differently written sums, the Bayes-optimal guess."""
    toss = random.Random(9)
    grid = np.linspace(12, 28, 801)
    hits, promised, trials = 0, 0.0, 60
    victims = {100 + i: toss.uniform(12, 28) for i in range(trials)}
    rows = ["id,x", *(f"{i},20" for i in range(10)), *(f"{i},{x}" for i, x in victims.items())]
    gateway = opened(tmp_path / "v", VALUES, rows)
    for victim, x in victims.items():
        again(gateway)
        loss = np.zeros_like(grid)
        for k in range(10):
            answer = gateway.query(f"SELECT SUM(x) FROM t WHERE id < {k} OR id = {victim}", anyway=True)
            scale = answer.error[0] / math.log(20)  # of Laplace noise whose 95 % half-width this is
            loss += np.abs(answer.rows[0][0] - (grid + 20 * k)) / scale
        promised = max(promised, after(gateway))
        posterior = np.exp(-(loss - loss.min()))
        within = np.array([posterior[np.abs(grid - g) <= 2].sum() for g in grid])
        hits += abs(grid[within.argmax()] - x) <= 2
    gateway.close()
    assert promised <= 0.25 + 0.2 + 1e-9
    assert hits / trials <= promised + 5 * math.sqrt(0.25 / trials), (
        f"{hits / trials:.1%} right, {promised:.1%} promised"
    )


@pytest.mark.parametrize("share", ["1%", "7%", "30%"])
def test_however_the_allowance_is_cut_it_is_never_overdrawn(tmp_path, share):
    gateway = opened(tmp_path / "cut", BITS, ["id,vip", *(f"{i},{i % 2}" for i in range(20))])
    asked = 0
    while asked < 200:
        try:
            gateway.query(f"SELECT COUNT(*) FROM t WHERE id > {asked}", spend=share, anyway=True)
        except Exhausted:
            break
        asked += 1
        standing = gateway.allowance()["guesses"][0]
        assert standing["after"] <= standing["limit"] + 1e-12
    assert asked == {"1%": 100, "7%": 14, "30%": 3}[share]
    gateway.close()
