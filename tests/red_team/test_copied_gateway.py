"""Attacks on a copy of a policy's gateway: the real one is not touched, and the promise bears them."""

import math

import numpy as np
import pytest

import nowiser as nw
from nowiser import policy
from nowiser.attacks.attack import attack
from nowiser.attacks.gateways.copied import attacked
from nowiser.attacks.harness import stream
from nowiser.attacks.registry import attacks
from nowiser.errors import Misconfigured
from nowiser.examples import canteen

MENU = """\
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: PROTECT
PRESENCE    columns:
      id: {identifier: integer}
      ward: {public: {values: [A, B]}}
      dish: {sensitive: {values: [soup, fish, cake]}, prior: {categories: {soup: 5, fish: 3, cake: 2}}}
      time: {sensitive: [12, 28], prior: {uniform: [12, 28]}}
attackers:
  - {guess: 'GUESS', gain: GAIN}
"""


def menu(folder, guess, gain="20%", protect="values"):
    rows = "".join(f"{k},{'AB'[k % 2]},soup,20\n" for k in range(1200))
    (folder / "t.csv").write_text(f"id,ward,dish,time\n{rows}", encoding="utf-8")
    text = MENU.replace("GUESS", guess).replace("GAIN", gain).replace("PROTECT", protect)
    text = text.replace("PRESENCE", "    presence: 50%\n" if protect == "persons" else "")
    (folder / "nowiser.yaml").write_text(text, encoding="utf-8")
    return folder / "nowiser.yaml"


def test_the_ledger_is_not_touched(tmp_path):
    file = canteen.write(tmp_path)
    found = attack(gateway=file, only=("one question", "repeating"), victims=5, seed=1)
    assert {o.attack for o in found.outcomes} == {"one question", "repeating"}
    assert not found.refuted
    assert sorted(p.name for p in tmp_path.iterdir()) == ["canteen.csv", "nowiser.yaml"]
    assert found.claims[0].ceiling == pytest.approx(nw.open(file).allowance()["guesses"][0]["limit"])


@pytest.mark.parametrize(
    ("guess", "protect"), [("t.dish exactly", "values"), ("t.time within 2", "values"), ("t.dish exactly", "persons")]
)
def test_each_kind_of_goal_falls_without_noise_and_stands_with_it(tmp_path, guess, protect):
    (one,), left = attacked(policy.read(menu(tmp_path, guess, protect=protect)), tmp_path / "copies", 1)
    assert not left
    shot = attacks()["one question"]
    bare = one.game.trial(shot, "unprotected", 60, stream(1, "victims"))
    exact = bare.right(shot.guess(bare.view, stream(1, "shot"))).mean()
    assert exact > bare.before + 0.1
    trial = one.game.trial(shot, "members", 10, stream(1, "victims"))
    assert len(trial.right(shot.guess(trial.view, stream(1, "shot")))) == 10
    assert trial.before < one.claim.ceiling < 1


def test_the_low_bits_of_our_noise_decide_nothing(tmp_path):
    """Whole units of a public grid: textbook noise of the same size would give most of them away."""
    file = menu(tmp_path, "t.dish exactly")
    file.write_text(file.read_text().replace("soup, fish, cake]", "soup, fish]").replace("fish: 3, cake: 2", "fish: 5"))
    (one,), _ = attacked(policy.read(file), tmp_path / "copies", 1)
    bits = attacks()["low bits"]
    exact = one.game.trial(bits, "unprotected", 30, stream(1, "victims"))
    assert not bits.guess(exact.view, stream(1, "bits")).silent.any()
    trial = one.game.trial(bits, "members", 30, stream(1, "victims"))
    assert bits.guess(trial.view, stream(1, "bits")).silent.all()


@pytest.mark.parametrize("guess", ["t.time in [12, 16]", "t.dish in {soup, cake}", "present in t"])
def test_goals_of_yes_or_no_are_said_not_to_be_tried(tmp_path, guess):
    found, left = attacked(policy.read(menu(tmp_path, guess, protect="persons")), tmp_path / "copies", 1)
    assert not found
    assert "yes or no" in left[0]


def test_a_goal_without_a_prior_is_said(tmp_path):
    file = menu(tmp_path, "t.time within 2")
    file.write_text(file.read_text().replace(", prior: {uniform: [12, 28]}", ""), encoding="utf-8")
    with pytest.raises(Misconfigured, match="no attack is tried"):
        attack(gateway=file, seed=1)


def test_another_engine_is_not_asked(tmp_path):
    file = menu(tmp_path, "t.time within 2")
    file.write_text(file.read_text().replace("tables:", "engine: postgresql://nobody/x\ntables:", 1), encoding="utf-8")
    with pytest.raises(Misconfigured, match="engine is elsewhere"):
        attack(gateway=file, seed=1)


@pytest.mark.long
@pytest.mark.parametrize(("gain", "reached"), [("5%", 0.2966), ("20%", 0.4123)])
def test_the_whole_allowance_in_one_question_reaches_what_the_calculus_says(tmp_path, gain, reached):
    """`reached`: 1 − (1 − p) e^{−slope}, the success of the best attacker on Uniform[12, 28] within 2."""
    shot = attacks()["one question"]
    right = []
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (one,), _ = attacked(policy.read(menu(folder, "t.time within 2", gain)), folder / "copies", seed)
        trial = one.game.trial(shot, "members", 500, stream(seed, "victims"))
        right.append(trial.right(shot.guess(trial.view, stream(seed, "shot"))))
    rate, n = np.mean(right), sum(map(len, right))
    assert rate == pytest.approx(reached, abs=0.03)
    assert rate - 3.3 * math.sqrt(rate * (1 - rate) / n) <= 0.25 + float(gain.rstrip("%")) / 100
