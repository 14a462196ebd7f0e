"""Attackers who know everybody else's record, and the worlds they cannot tell apart beforehand."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa

from nowiser.engines.aligned import _ARROW
from nowiser.engines.duckdb import DuckDB
from nowiser.engines.reference import tally_rows
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.answer import results as release
from nowiser.sql.answer.thresholds import shown
from support import picks

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: {protect}
    columns:
      id: {{identifier: integer}}
      ward: {{public: [A, B]}}
      time: {{sensitive: [0, 60], prior: {{uniform: [0, 60]}}, nullable: false}}
      hour: {{sensitive: [0, 7], kind: integer, nullable: false, prior: {{uniform: [0, 7]}}}}
      dish: {{sensitive: {{values: [soup, fish, cake]}}, prior: {{categories: {{soup: 5, fish: 3, cake: 2}}}}, nullable: false}}
  u:
    source: u.csv
    person: {{pid: t.id}}
    rows_per_person: 3
    protect: {protect}
    columns:
      pid: {{identifier: integer}}
      item: {{sensitive: {{values: [a, b, c, d]}}, prior: {{categories: {{a: 4, b: 3, c: 2, d: 1}}}}, nullable: false}}
      amount: {{sensitive: [0, 10], kind: integer, nullable: false, prior: {{uniform: [0, 10]}}}}
      city: {{sensitive: text}}
  w:
    source: w.csv
    public: true
    unique: [ward]
    columns:
      ward: {{public: [A, B]}}
      floor: {{public: [0, 3], kind: integer}}
attackers:
  - {{guess: t.time within 2, gain: 10%}}
  - {{guess: t.dish exactly, gain: 10%}}
  - {{guess: u.item exactly, gain: 10%}}
  - {{guess: t.hour exactly, gain: 10%}}
  - {{guess: u.amount exactly, gain: 10%}}
{presence}
{independent}
{delta}
"""
PRESENCE = "  - {guess: present in t, gain: 20%}"
APART = "independent: [[t.time], [t.dish], [t.hour], [u.item], [u.amount], [u.city]]"
DISHES, ITEMS = ("soup", "fish", "cake"), ("a", "b", "c", "d")
TIMES = np.arange(0.5, 60, 1.0)  # they stand for a minute each
NEAR = np.abs(np.arange(0, 61, 1.0)[:, None] - TIMES[None, :]) <= 2  # windows that end between two of them
SPILL = 1e-3
DRAWS = 60  # per world, for the first attacker, who needs no statistics


class Lists:
    """Tables in lists, computed by the reference all engines are held to."""

    name = "lists"
    capabilities = DuckDB.capabilities

    def __init__(self, tables):
        self.tables = tables

    def prepared_version(self):
        return "1"

    def run(self, tally):
        found = list(tally_rows(tally, self.tables).items())
        kinds = [_ARROW[k.type.kind] for k in tally.keys] + ([pa.int64()] if tally.sets is not None else [])
        columns = [pa.array([key[i] for key, _ in found], kind) for i, kind in enumerate(kinds)]
        columns += [pa.array([int(cells[i]) for _, cells in found], pa.int64()) for i in range(len(tally.cells))]
        return pa.table(columns, names=[str(i) for i in range(len(columns))])

    def close(self):
        pass


def others(n=12):
    toss = np.random.default_rng(7)
    t = [
        {"id": i, "ward": "AB"[i % 2], "time": float(toss.uniform(0, 60)), "hour": i % 6, "dish": DISHES[i % 3]}
        for i in range(1, n)
    ]
    u = [
        {"pid": i, "item": ITEMS[(i * k) % 4], "amount": (3 * i + k) % 11, "city": f"C{i % 2}"}
        for i in range(1, n)
        for k in range(i % 3 + 1)
    ]
    return t, u


def tables(victim=None, crowd=12):
    """Everybody else, and the victim if she is there: her row of t and her rows of u."""
    t, u = others(crowd)
    if victim is not None:
        t, u = [*t, {"id": 0, "ward": "A", **victim[0]}], [*u, *({"pid": 0, **row} for row in victim[1])]
    return {"t": t, "u": u, "w": [{"ward": "A", "floor": 1}, {"ward": "B", "floor": 2}]}


def her(time=20.5, hour=3, dish="soup", item="a", amount=5):
    three = [{"item": i, "amount": amount, "city": "C0"} for i in (item if isinstance(item, tuple) else (item,) * 3)]
    return {"time": float(time), "hour": hour, "dish": dish}, three


class World:
    """What the victim's secret may be, how likely, and which guesses of it are right."""

    def __init__(self, attacker, every, prior, goals, crowd=12):
        self.attacker, self.prior, self.goals = attacker, np.asarray(prior, float), goals
        self.databases = [tables(one, crowd) for one in every]


def worlds(kind):
    """Every attacker of the policy with the prior it declares."""
    dependent = "dependent" in kind
    if dependent:  # the dish follows from the time, the hour and the items too, with the same prior for each of them
        linked = [
            her(t, int(t / 7.5), DISHES[(t >= 30) + (t >= 48)], ITEMS[(t >= 24) + (t >= 42) + (t >= 54)], int(t / 5.5))
            for t in TIMES.tolist()
        ]
        even = np.full(len(TIMES), 1 / len(TIMES))
        yield World(0, linked, even, NEAR)
        yield World(1, linked, even, np.array([[r["dish"] == d for r, _ in linked] for d in DISHES]))
        yield World(2, linked, even, np.array([[r[0]["item"] == i for _, r in linked] for i in ITEMS]))
    else:
        yield World(0, [her(time=t) for t in TIMES], np.full(len(TIMES), 1 / len(TIMES)), NEAR)
        yield World(1, [her(dish=d) for d in DISHES], [0.5, 0.3, 0.2], np.eye(3, dtype=bool))
        yield World(2, [her(item=i) for i in ITEMS], [0.4, 0.3, 0.2, 0.1], np.eye(4, dtype=bool))
        yield World(3, [her(hour=h) for h in range(8)], np.full(8, 1 / 8), np.eye(8, dtype=bool))
        yield World(4, [her(amount=a) for a in range(11)], np.full(11, 1 / 11), np.eye(11, dtype=bool))
    if kind.startswith("persons"):
        for victim in PRESENT:
            yield World(5, [victim, None], [0.5, 0.5], np.eye(2, dtype=bool))


PRESENT = (her(60, 7, "cake", ("a", "b", "c"), 10), her(0, 0, "fish", "a", 0), her(amount=10))


class Asked:
    """One question: its plan and the noise that was really used, seen while it was answered."""

    def __init__(self, gate, sql, spend):
        run, picked, kept = gate._run, gate._picked, []
        gate._run = lambda planned: (kept.append(planned), run(planned))[1]
        gate._picked = lambda planned, cells, chosen: (kept.append(chosen), picked(planned, cells, chosen))[1]
        try:
            self.answer = gate.query(sql, spend=spend, anyway=True)
        finally:
            del gate._run, gate._picked
        self.planned, self.chosen = kept
        self.gate, self.sql = gate, sql

    def quieter(self, factor):
        """The same with less noise than was chosen, for which nobody pays."""
        noise = tuple(
            None
            if n is None
            else Laplace(n.scale * factor, n.grid)
            if isinstance(n, Laplace)
            else Gaussian(n.spread * factor**2, n.grid)
            for n in self.chosen.noise
        )
        self.chosen = replace(self.chosen, noise=noise, nats=self.chosen.nats / factor)
        return self

    def exact(self, database):
        self.gate._engine = Lists(database)
        return self.gate._run(self.planned)

    def blurred(self, exact):
        """What is there before anything is read off it: the picked groups, the cells, the groups that are shown."""
        planned, cells = exact
        picked, cells = self.gate._picked(planned, cells, self.chosen)
        return shown(picked, self.chosen.noise, self.gate._blur(self.chosen.noise, cells))

    def released(self, exact):
        """What an analyst sees."""
        planned, cells = self.blurred(exact)
        return release.results(planned, self.chosen.noise, cells).rows

    # -- the first attacker: how likely is this output in a world --------------------------------------------

    def logs(self, every, truth, draws):
        """`[draw, world]`: ln Pr[output | world] up to a constant, for outputs drawn in the world `truth`."""
        planned, cells = every[truth]
        if any(isinstance(h, Picking) for h in planned.histograms):
            laws = [_Law(self, world) for world in every]
            outputs = [self.blurred(every[truth]) for _ in range(draws)]
            return np.array([law.of(outputs) for law in laws]).T
        if self.chosen.top is not None or planned.discovery is not None:
            outputs = [self.blurred(every[truth]) for _ in range(draws)]
            self._known = {}
            return np.array([[self._one(output, world) for world in every] for output in outputs])
        total = np.zeros((draws, len(every)))
        for i, (mechanism, c) in enumerate(zip(self.chosen.noise, cells, strict=True)):
            exact = np.array([np.asarray(world[1][i]).ravel() for world in every])
            if mechanism is None:
                assert (exact == exact[:1]).all(), f"an exact cell depends on a secret: {self.sql}"
                continue
            tells = (exact != exact[:1]).any(
                axis=0
            )  # each has noise of its own: what is the same in all worlds is silent
            (noisy,) = self.gate._blur([mechanism], [np.tile(np.asarray(c).ravel()[tells], (draws, 1))])
            away = np.asarray(noisy, float)[:, None, :] - exact[:, tells].astype(float)[None, :, :]
            total -= _surprise(mechanism, away)
        return total

    def _one(self, output, exact):
        """Where groups are picked or found: ln Pr[output | world]."""
        (seen, noisy), (planned, cells) = output, exact
        if self.chosen.top is None:
            return self._found(seen, noisy, planned, cells)
        places = [list(planned.groups).index(g) for g in seen.groups]
        counts = self._noise(0, noisy[0], cells[0][places]) if self.chosen.top.counted else 0.0
        of = (*places, *cells[0].tolist())
        if of not in self._known:  # many worlds have the same counts
            self._known[of] = self._picks(places, cells[0])
        return self._known[of] + counts

    def _noise(self, i, y, c):
        return -float(_surprise(self.chosen.noise[i], np.atleast_1d(np.asarray(y, float) - np.asarray(c, float))))

    def _picks(self, places, counts):
        """Permute and flip: i is picked if its coin shows heads before any that came earlier; times are uniform."""
        top = self.chosen.top
        each = float(self.chosen.nats) / ((2 if top.counted else 1) * top.picks)
        left, total = list(range(len(counts))), 0.0
        for place in places:
            most = max(counts[i] for i in left)
            heads = {i: math.exp(-each * float(most - counts[i]) / (2 * top.one)) for i in left}
            earlier = np.polynomial.Polynomial([1.0])
            for i in left:
                if i != place:
                    earlier *= np.polynomial.Polynomial([1.0, -heads[i]])
            total += math.log(heads[place] * earlier.integ()(1.0))
            left.remove(place)
        return total

    def _found(self, seen, noisy, planned, cells):
        """Groups that are shown speak by their numbers, those that are not by not reaching the threshold."""
        mechanism, at = self.chosen.noise[planned.discovery.cell], planned.discovery.cell
        limit, total = planned.discovery.threshold(mechanism), 0.0
        here = {g: i for i, g in enumerate(planned.groups)}
        if any(g not in here for g in seen.groups):
            return -math.inf
        placed = {g: i for i, g in enumerate(seen.groups)}
        q = math.exp(-1 / float(mechanism.scale))
        for g, i in here.items():
            if g in placed:
                total += sum(
                    self._noise(k, y[placed[g]], c[i]) for k, (y, c) in enumerate(zip(noisy, cells, strict=True))
                )
                total += (len(cells)) * math.log((1 - q) / (1 + q))
            else:
                short = int(limit - cells[at][i])  # Pr[X < short], X the noise
                total += math.log1p(-(q**short) / (1 + q)) if short > 0 else (1 - short) * math.log(q) - math.log1p(q)
        return total


class _Law:
    """How likely picked quantiles, the cells around them and everything else of a question are in one world."""

    def __init__(self, asked, world):
        self.asked, (self.planned, self.cells) = asked, world
        self.laws = {}
        n = len(self.planned.tally.cells)
        for i, h in enumerate(self.planned.histograms, n):
            if isinstance(h, Picking):
                found = picks.laws(h, self.cells[i], len(self.planned.groups), asked.chosen.nats)
                self.laws |= {(i, *key): law for key, law in found.items()}

    def of(self, outputs):
        """ln Pr of each output, up to a constant."""
        total, n = np.zeros(len(outputs)), len(self.planned.tally.cells)
        for i, mechanism in enumerate(self.asked.chosen.noise):
            exact, blurred = self.cells[i], np.array([noisy[i] for _, noisy in outputs])
            if (i, 0, 0) in self.laws:
                at = np.array([seen.places[i - n].at for seen, _ in outputs])
                for g, t in np.ndindex(at.shape[1:]):
                    total += picks.at(self.laws[i, g, t], at[:, g, t])
                cuts = np.array([seen.places[i - n].cuts for seen, _ in outputs])
                exact = np.array([self._between(exact, g, cuts[:, g]) for g in range(at.shape[1])]).swapaxes(0, 1)
            if mechanism is not None:
                total -= _surprise(mechanism, (blurred - exact).reshape(len(outputs), -1).astype(float))
        return total

    def _between(self, counted, g, cuts):
        own = counted.group == g
        upto = np.concatenate([[0], np.cumsum(counted.rows[own])])
        return np.diff(upto[np.searchsorted(counted.bucket[own], cuts.ravel())].reshape(cuts.shape), axis=1)


def _surprise(mechanism, away):
    """How unlikely the noise makes these distances, added up over the last axis."""
    if isinstance(mechanism, Laplace):
        return np.abs(away).sum(axis=-1) / float(mechanism.scale)
    return (away**2).sum(axis=-1) / (2 * float(mechanism.spread))


def gained(asked, world, draws=DRAWS):
    """The first attacker's largest gain over many outputs, all questions together."""
    exact = [[a.exact(database) for database in world.databases] for a in asked]
    goals = world.goals.astype(float)
    most = -1.0
    for truth in range(0, len(world.databases), max(1, len(world.databases) // 6)):
        logs = sum(a.logs(e, truth, draws) for a, e in zip(asked, exact, strict=True))
        posterior = world.prior * np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        most = max(most, (posterior @ goals.T - goals @ world.prior).max())
    return most


# -- the second attacker: sees what is shown, knows nothing of the noise ----------------------------------------------

FALSE_ALARM = 1e-9  # for one comparison; there are about a hundred


def table_of(releases):
    """One line per release: every number under the key and column it stands in, and which keys there are."""
    lines = []
    for rows in releases:
        line = {}
        for row in rows:
            key = tuple(v for v in row if isinstance(v, str))
            for i, v in enumerate(row):
                if v is None or isinstance(v, (int, float)):
                    line[key, i] = math.nan if v is None else float(v)
            line[key, "there"] = 1.0
        lines.append(line)
    names = sorted({name for line in lines for name in line}, key=str)
    return np.array([[line.get(name, -1e18) for name in names] for line in lines])


def learned(train, truth, prior, bins=8):
    """How likely each number is in each world, from examples: bins with equally many examples, numbers on their own."""
    edges = [np.unique(np.nanquantile(np.nan_to_num(c, nan=-1e17), np.linspace(0, 1, bins + 1)[1:-1])) for c in train.T]
    scores = []
    for column, cut in zip(train.T, edges, strict=True):
        at = np.searchsorted(cut, np.nan_to_num(column, nan=-1e17))
        found = np.array([np.bincount(at[truth == w], minlength=len(cut) + 1) + 1.0 for w in range(len(prior))])
        scores.append(np.log(found / found.sum(axis=1, keepdims=True)))

    def guesses(lines):
        placed = [np.searchsorted(cut, np.nan_to_num(c, nan=-1e17)) for c, cut in zip(lines.T, edges, strict=True)]
        each = [s[:, at].T + np.log(prior) for s, at in zip(scores, placed, strict=True)]
        return [*(one.argmax(axis=1) for one in each), (sum(each) - (len(each) - 1) * np.log(prior)).argmax(axis=1)]

    return guesses


def success(asked, world, releases):
    """His best rule, chosen on half of the releases, and how often it is right on the other half."""
    toss = np.random.default_rng(11)
    exact = [[a.exact(database) for database in world.databases] for a in asked]
    truth = toss.choice(len(world.databases), size=2 * releases, p=world.prior)
    shown_to_him = [[row for a, e in zip(asked, exact, strict=True) for row in a.released(e[w])] for w in truth]
    lines = table_of(shown_to_him)
    guesses = learned(lines[:releases], truth[:releases], world.prior)
    rules = guesses(lines[:releases])
    best = int(np.argmax([np.mean(g == truth[:releases]) for g in rules]))
    return int(np.sum(guesses(lines[releases:])[best] == truth[releases:]))


def at_least(right, tried):
    """Clopper and Pearson: how well he guesses at least, except with probability FALSE_ALARM."""
    from scipy.stats import beta

    return 0.0 if right == 0 else float(beta.ppf(FALSE_ALARM, right, tried - right + 1))
