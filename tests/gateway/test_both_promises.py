"""A policy with attackers of both kinds keeps both promises: exact posteriors of somebody who knows everybody else.

The attacker shares nothing with the account: he reads questions and bars, draws victims from the prior, and computes
what each output tells about every possible record.
"""

import math

import numpy as np
from hypothesis import HealthCheck, event, given, settings, strategies as st

import nowiser as nw
from nowiser.errors import NowiserError

DISHES = ("soup", "curry", "pie", "fish")
TIMES = np.arange(0.25, 60, 0.5)
DRAWS = 1_500
POLICY = """\
nowiser: 1
tables:
  visits:
    source: visits.csv
    person: id
    protect: values
    columns:
      id: {{identifier: integer}}
      dish: {{sensitive: {{values: [soup, curry, pie, fish]}}, prior: {{categories: {{soup: {0}, curry: {1}, pie: 2, fish: 1}}}}}}
      time: {{sensitive: [0, 60], prior: {{normal: {{mean: 20, sd: 5}}}}}}
independent: [[visits.dish], [visits.time]]
attackers:
{attackers}answers: {{spend: 5%, reuse: {reuse}}}
"""


def phi(x):
    return np.array([math.erf(v / math.sqrt(2)) for v in x]) / 2


def record(weights):
    """Every possible record and its probability before any answer."""
    of_time = phi((TIMES + 0.25 - 20) / 5) - phi((TIMES - 0.25 - 20) / 5)
    of_dish = np.array([*weights, 2, 1], dtype=float)
    both = np.outer(of_time / of_time.sum(), of_dish / of_dish.sum())
    return np.repeat(TIMES, 4), np.tile(np.arange(4), len(TIMES)), both.ravel()


@st.composite
def questions(draw):
    """SQL, and what a record adds to each of its numbers."""
    at, some = draw(st.sampled_from([12, 16, 20, 24])), draw(st.sets(st.sampled_from(range(4)), min_size=1, max_size=3))
    of = ", ".join(f"'{DISHES[i]}'" for i in sorted(some))
    return draw(
        st.sampled_from(
            [
                (f"SELECT COUNT(*) FROM visits WHERE dish IN ({of})", lambda t, d: [np.isin(d, list(some))]),
                ("SELECT dish, COUNT(*) FROM visits GROUP BY dish", lambda t, d: [d == i for i in range(4)]),
                (f"SELECT COUNT(*) FROM visits WHERE time > {at}", lambda t, d: [t > at]),
                ("SELECT SUM(time) FROM visits", lambda t, d: [t]),
                (f"SELECT SUM(RAMP(time, {at}, {at + 8})) FROM visits", lambda t, d: [np.clip((t - at) / 8, 0, 1)]),
                (f"SELECT SUM(ABS(time - {at})) FROM visits", lambda t, d: [np.abs(t - at)]),
                (
                    f"SELECT COUNT(*) FROM (SELECT id FROM visits WHERE time > {at} UNION SELECT id FROM visits WHERE dish IN ({of})) q",
                    lambda t, d: [(t > at) | np.isin(d, list(some))],
                ),
                (
                    f"SELECT COUNT(*) FROM (SELECT time, ROW_NUMBER() OVER (PARTITION BY id ORDER BY time) AS n FROM visits) q WHERE n = 1 AND time > {at}",
                    lambda t, d: [t > at],
                ),
            ]
        )
    )


def heard(records, told, rng):
    """What the attacker believes after each of many outputs: a row of probabilities of all records."""
    times, dishes, prior = records
    victims = rng.choice(len(prior), DRAWS, p=prior)
    believed = np.tile(np.log(prior + 1e-300), (DRAWS, 1))
    for adds, gaussian, bar in told:
        for number in adds(times, dishes):
            exact = np.asarray(number, dtype=float)
            if gaussian:
                off = exact[victims] + rng.normal(0, bar / 1.959964, DRAWS)
                believed -= ((off[:, None] - exact[None]) * 1.959964 / bar) ** 2 / 2
            else:
                scale = bar / math.log(20)
                off = exact[victims] + rng.laplace(0, scale, DRAWS)
                believed -= np.abs(off[:, None] - exact[None]) / scale
    believed = np.exp(believed - believed.max(1, keepdims=True))
    return believed / believed.sum(1, keepdims=True)


def guesses(believed):
    """The chances of all guesses `exactly` of the dish, and `within 2` of the time."""
    table = believed.reshape(len(believed), len(TIMES), 4)
    running = np.concatenate([np.zeros((len(table), 1)), table.sum(2).cumsum(1)], axis=1)
    return {"visits.dish exactly": table.sum(1), "visits.time within 2": running[:, 8:] - running[:, :-8]}


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_both_promises_hold_for_random_policies_and_questions(tmp_path_factory, data):
    weights = data.draw(st.sampled_from([(1, 1), (2, 3), (5, 2)]))
    wanted = data.draw(
        st.lists(
            st.tuples(st.sampled_from(["dish exactly", "time within 2"]), st.booleans(), st.sampled_from([4, 10, 25])),
            min_size=1,
            max_size=4,
            unique_by=lambda a: a[:2],
        )
    )
    written = "".join(
        f"  - {{guess: visits.{goal}, gain: {gain}%{', promise: on average' if mean else ''}}}\n"
        for goal, mean, gain in wanted
    )
    folder = tmp_path_factory.mktemp("both")
    (folder / "visits.csv").write_text(
        "id,dish,time\n" + "".join(f"{i},{DISHES[i % 4]},{5 * i}\n" for i in range(9)), encoding="utf-8"
    )
    text = POLICY.format(*weights, attackers=written, reuse=str(data.draw(st.booleans())).lower())
    (folder / "nowiser.yaml").write_text(text, encoding="utf-8")
    asked, told, last = data.draw(st.lists(questions(), min_size=1, max_size=6)), [], None
    with nw.open(folder / "nowiser.yaml") as gw:
        for sql, adds in asked:
            share = data.draw(st.sampled_from(["10%", "30%"]))
            try:
                gaussian = "Gaussian" in gw.explain(sql, spend=share).notes[0]
                last = gw.query(sql, spend=share, anyway=True)
            except NowiserError:
                continue  # used up
            if not (last.stored or last.follows):
                told.append((adds, gaussian, max(b for b in last.errors()[0] if b)))
    if not told or last is None:
        return
    event(f"answers: {len(told)}")
    records = record(weights)
    before, after = guesses(records[2][None]), guesses(heard(records, told, np.random.default_rng(len(told))))
    for guess in last.guesses:
        chances, printed = after[guess["guess"]], guess["after"] - guess["before"]
        if guess["promise"] == "on average":
            best = chances.max(1)
            gained, chance = best.mean() - before[guess["guess"]].max(), 4 * best.std() / DRAWS**0.5
        else:
            gained, chance = (chances - before[guess["guess"]]).max(), 0.0
        assert gained <= printed * 1.02 + chance + 1e-3, (guess, text, asked)
