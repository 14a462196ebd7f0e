"""Random questions, the same for the same seed: priors, goals, costs, victims, for any copy `nw` of the library."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("number named", "number worst", "labels", "independent named", "independent worst", "repeated", "records named", "records worst",
         "bands named", "bands worst", "disc named", "disc worst", "marginal", "solid")  # fmt: skip


@dataclass(frozen=True)
class Question:
    """Arguments of `guess`; `places` are victims' values for each attribute to try (None: one without a name)."""

    kind: str
    seed: int
    prior: Any
    goal: Any
    costs: Any  # a Cost, or a mapping
    victim: Any
    places: Any

    def ask(self, guess: Callable[..., Any], victim: Any = "own") -> Any:
        who = self.victim if isinstance(victim, str) and victim == "own" else victim
        if isinstance(self.costs, dict):
            return guess(self.prior, self.goal, costs=self.costs, victim=who)
        return guess(self.prior, self.goal, slope=self.costs.slope, jump=self.costs.jump, victim=who)


def question(nw: Any, kind: str, seed: int) -> Question:
    """The question of this kind and seed, in the classes of this copy of the library."""
    return Draw(nw, kind, seed).question()


class Draw:
    """Draws one question."""

    def __init__(self, nw: Any, kind: str, seed: int) -> None:
        self.nw, self.kind, self.seed = nw, kind, seed
        self.rng = np.random.default_rng([seed, KINDS.index(kind)])

    def question(self) -> Question:
        how = self.kind.split()[0]
        return getattr(self, how if how not in ("bands", "disc", "solid", "marginal") else "joint")()

    # --- small things

    def often(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def log(self, low: float, high: float) -> float:
        return float(np.exp(self.rng.uniform(math.log(low), math.log(high))))

    def pick(self, *of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def cost(self, *, slope: bool = True) -> Any:
        wide = self.often(0.15)
        s = (self.log(1e-6, 60) if wide else self.log(0.02, 4)) if slope and not self.often(0.08) else 0.0
        j = (self.log(1e-6, 60) if wide else self.log(0.02, 3)) if self.often(0.4) or not s else 0.0
        return self.nw.Cost(s, j)

    def shares(self, n: int, *, empty: float = 0.0) -> list[float]:
        m = self.rng.dirichlet(np.full(n, self.pick(0.5, 1.0, 5.0)))
        m = np.where(self.rng.random(n) < empty, self.pick(0.0, 0.0, 1e-9, 1e-5), m)
        m[int(self.rng.integers(n))] += 0.1
        return [float(x) for x in m / m.sum()]

    # --- one number

    def number_prior(self, depth: int = 0) -> tuple[Any, np.ndarray]:
        """A prior on a number, and places from its quantiles (with its single values)."""
        nw, rng = self.nw, self.rng
        at, wide = round(float(rng.normal() * 10), self.pick(0, 1, 12)), self.pick(0.01, 1.0, 1.0, 5.0, 5.0, 1000.0)
        if self.often(0.04):
            at += 1e6
        name = self.pick(
            "Uniform",
            "Normal",
            "LogNormal",
            "Histogram",
            "Atoms",
            "Empirical",
            "Frozen",
            "Frozen",
            "Discrete",
            "Truncated",
            "Mixture",
        )
        if depth > 1 and name in ("Truncated", "Mixture"):
            name = "Normal"
        if name == "Uniform":
            return nw.Uniform(at, at + wide), at + wide * np.linspace(0, 1, 9)
        if name == "Normal":
            return nw.Normal(at, wide), at + wide * np.array([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3.0])
        if name == "LogNormal":
            mean, sd = float(rng.normal() * 2), self.pick(0.1, 0.5, 1.0, 1.5)
            return nw.LogNormal(mean, sd), np.exp(mean + sd * np.linspace(-3, 3, 9))
        if name == "Histogram":
            n = int(rng.integers(1, 12))
            edges = at + wide * np.cumsum([0.0, *rng.choice([0.1, 0.5, 1.0, 3.0], n)])
            prior = nw.Histogram(edges, self.shares(n, empty=self.pick(0.0, 0.3)))
            return prior, np.linspace(prior.edges[0], prior.edges[-1], 13)
        if name in ("Atoms", "Empirical"):
            n = int(rng.integers(2, 14))
            x = np.unique(np.round(at + wide * rng.normal(size=n), self.pick(0, 1, 1, 9)))
            if self.often(0.1):
                x = np.unique(np.concatenate([x, np.nextafter(x, np.inf)]))
            if x.size < 2:
                x = np.array([at, at + wide])
            made = nw.Atoms(x, self.shares(x.size)) if name == "Atoms" else nw.Empirical(rng.choice(x, 40))
            return made, made.values
        if name == "Frozen":
            which = self.pick(("t", 3), ("t", 8), ("gamma", 0.5), ("gamma", 2.5), ("beta", 0.5, 0.5), ("beta", 2, 5), ("beta", 0.7, 3), ("expon",),
                              ("logistic",), ("weibull_min", 0.8), ("weibull_min", 2.0), ("laplace",), ("triang", 0.3), ("rayleigh",), ("gumbel_r",), ("skewnorm", 4))  # fmt: skip
            prior = nw.Frozen(which[0], *which[1:], loc=at, scale=wide)
            return prior, prior.scipy().ppf(np.linspace(0.01, 0.99, 9))
        if name == "Discrete":
            which = self.pick(("poisson", 3.0), ("poisson", 40.0), ("binom", 9, 0.3), ("geom", 0.3), ("randint", 2, 9))
            prior = nw.Frozen(which[0], *which[1:])
            return prior, np.unique(prior.scipy().ppf(np.linspace(0.01, 0.99, 9)))
        if name == "Truncated":
            inner, places = (
                self.number_prior(depth + 1)
                if self.often(0.8)
                else (nw.Frozen("cauchy", loc=at, scale=wide), at + wide * np.linspace(-6, 6, 9))
            )
            low, high = (
                sorted(rng.choice(places, 2, replace=False))
                if places.size > 2 and not self.often(0.2)
                else (places[0], places[-1])
            )
            if not low < high:
                return inner, places
            return nw.Truncated(inner, float(low), float(high)), places[(places >= low) & (places <= high)]
        parts = [self.number_prior(depth + 1) for _ in range(int(rng.integers(2, 4)))]
        return nw.Mixture(list(zip(self.shares(len(parts)), [p for p, _ in parts], strict=True))), np.unique(
            np.concatenate([x for _, x in parts])
        )

    def simple(self, places: np.ndarray, *, labels: Any = None) -> Any:
        """A simple goal about one attribute whose values lie around these places."""
        nw = self.nw
        if labels is not None:
            return (
                nw.Exactly()
                if self.often(0.5)
                else nw.In(
                    frozenset(
                        self.rng.choice(labels, int(self.rng.integers(1, len(labels) + 1)), replace=False).tolist()
                    )
                )
            )
        span = float(np.ptp(places)) or 1.0
        name = self.pick("within", "within", "within", "between", "exactly", "set")
        single = np.array(places)
        if name == "within":
            radius = span * self.log(0.02, 0.7)
            return nw.Within(float(f"{radius:.2g}") if self.often(0.6) else radius)
        if name == "exactly":
            return nw.Exactly()
        if name == "set":
            return nw.In(frozenset(float(x) for x in self.rng.choice(single, int(self.rng.integers(1, 4)))))
        a, b = (
            sorted(float(x) for x in self.rng.choice(single, 2))
            if self.often(0.4)
            else sorted(self.rng.uniform(single.min(), single.max(), 2).tolist())
        )
        return nw.In.between(a, b) if a < b else nw.In.between(a - span / 9, b + span / 9)

    def formula(self, leaf: Callable[[], Any], depth: int) -> Any:
        if depth == 0 or self.often(0.25):
            found = leaf()
            return self.nw.Not(found) if self.often(0.2) else found
        join = self.pick(self.nw.And, self.nw.Or)
        found = join(tuple(self.formula(leaf, depth - 1) for _ in range(int(self.rng.integers(2, 4)))))
        return self.nw.Not(found) if self.often(0.15) else found

    def victim_at(self, places: np.ndarray) -> float:
        x = float(self.rng.choice(places))
        if self.often(0.4):
            return x
        return float(np.clip(x + self.rng.normal() * np.ptp(places) / 8, places.min(), places.max()))

    def number(self) -> Question:
        prior, places = self.number_prior()
        depth = self.pick(0, 0, 0, 0, 1, 1, 2, 3)
        if depth:
            goal = self.formula(lambda: self.simple(places), depth)
        elif isinstance(prior, self.nw.Atoms) or getattr(prior, "discrete", False):
            goal = self.simple(places)
        else:
            goal = (
                self.nw.Within(float(np.ptp(places) or 1.0) * self.log(0.01, 0.7))
                if self.often(0.7)
                else self.simple(places)
            )
        goal = self.nw.Not(goal) if not depth and self.often(0.15) else goal
        victim = self.victim_at(places) if "named" in self.kind else None
        return Question(self.kind, self.seed, prior, goal, self.cost(), victim, places)

    # --- labels and presence

    def label_prior(self) -> tuple[Any, Any]:
        nw = self.nw
        n = int(self.rng.integers(2, 7))
        names = [f"l{i}" for i in range(n)]
        return nw.Categories(dict(zip(names, self.shares(n), strict=True))), names

    def labels(self) -> Question:
        nw, which = self.nw, self.rng.random()
        jump = nw.Cost(0.0, self.cost(slope=False).jump)
        if which < 0.2:
            prior = nw.Presence(round(float(self.rng.random()), 2)) if self.often(0.6) else nw.Unknown()
            goal = self.pick(nw.Present(), nw.Not(nw.Present()))
            return Question(self.kind, self.seed, prior, goal, jump, None, None)
        if which < 0.4:
            goal = self.pick(nw.Within(self.log(0.05, 3)), nw.Exactly())
            return Question(self.kind, self.seed, nw.Unknown(0, 10), goal, self.cost(), None, None)
        prior, names = self.label_prior()
        goal = self.formula(lambda: self.simple(np.zeros(0), labels=names), self.pick(0, 0, 1))
        victim = self.pick(*names) if self.often(0.5) else None
        return Question(self.kind, self.seed, prior, goal, jump, victim, names)

    # --- several independent attributes

    def independent(self) -> Question:
        """Each attribute once, or in one place of the goal."""
        n = int(self.rng.integers(2, 4))
        priors, places, goals, costs = {}, {}, [], {}
        for name in "abc"[:n]:
            if self.often(0.25):
                priors[name], places[name] = self.label_prior()
                costs[name] = self.nw.Cost(0.0, self.cost(slope=False).jump)
                goal = self.nw.On(name, self.simple(np.zeros(0), labels=places[name]))
            else:
                priors[name], places[name] = self.number_prior(depth=1)
                costs[name] = self.cost()
                goal = self.nw.On(
                    name,
                    self.nw.Within(float(np.ptp(places[name]) or 1.0) * self.log(0.02, 0.7))
                    if self.often(0.75)
                    else self.simple(places[name]),
                )
                if self.often(0.15):
                    goal = self.pick(self.nw.And, self.nw.Or)(
                        (goal, self.nw.Not(self.nw.On(name, self.simple(places[name]))))
                    )
            goals.append(self.nw.Not(goal) if self.often(0.2) else goal)
        join = self.pick(self.nw.And, self.nw.Or)
        other = self.nw.Or if join is self.nw.And else self.nw.And
        goal = other((join(tuple(goals[:2])), goals[2])) if n == 3 and self.often(0.5) else join(tuple(goals))
        return Question(
            self.kind, self.seed, priors, goal, costs, self._who(priors, places, "named" in self.kind), places
        )

    def _who(self, priors: Any, places: Any, named: bool) -> Any:
        if not named:
            return None
        return {n: self.pick(*places[n]) if isinstance(places[n], list) else self.victim_at(places[n]) for n in priors}

    def repeated(self) -> Question:
        """Two independent attributes, at least one in several places of the goal."""
        priors, places, costs = {}, {}, {}
        for name in "ab":
            while True:
                priors[name], places[name] = self.number_prior(depth=2)
                if self.often(0.3) or isinstance(priors[name], self.nw.Uniform | self.nw.Normal | self.nw.Histogram):
                    break
            costs[name] = self.cost()
        leaf = lambda name: self.nw.On(name, self.nw.Within(float(np.ptp(places[name]) or 1.0) * self.log(0.05, 0.5)))  # noqa: E731
        join, other = self.pick((self.nw.And, self.nw.Or), (self.nw.Or, self.nw.And))
        goal = join((other((leaf("a"), leaf("b"))), other((leaf("a"), leaf("b")))))
        return Question(self.kind, self.seed, priors, goal, costs, self._who(priors, places, self.often(0.6)), places)

    # --- dependent attributes

    def records(self) -> Question:
        """A table of up to 30 records of numbers and labels."""
        nw, rng = self.nw, self.rng
        n, names = int(rng.integers(2, 4)), "abc"
        labelled = [self.often(0.35) for _ in range(n)]
        rows = {
            tuple(
                f"l{int(rng.integers(3))}" if lab else round(float(rng.normal() * 3), self.pick(0, 0, 1))
                for lab in labelled
            )
            for _ in range(int(rng.integers(3, 30)))
        }
        if len(rows) < 2:
            rows |= {tuple(f"l{i}" if lab else float(i) for lab in labelled) for i in range(3)}
        ordered = sorted(rows)
        prior = nw.JointAtoms(list(names[:n]), dict(zip(ordered, self.shares(len(ordered)), strict=True)))
        places = {
            a: sorted({r[i] for r in ordered}) if labelled[i] else np.array(sorted({r[i] for r in ordered}))
            for i, a in enumerate(names[:n])
        }

        def leaf() -> Any:
            i = int(rng.integers(n))
            a = names[i]
            return nw.On(a, self.simple(np.zeros(0), labels=places[a]) if labelled[i] else self.simple(places[a]))

        numbers = [a for a, lab in zip(names, labelled, strict=False) if not lab]
        if len(numbers) > 1 and self.often(0.2):
            goal: Any = nw.On(tuple(numbers[:2]), nw.Within(self.log(0.5, 5)))
            costs: Any = self.cost() if n == 2 else {a: nw.Cost(0.0, self.log(0.1, 2)) for a in names[:n]}
        else:
            goal = self.formula(leaf, self.pick(0, 1, 1, 2))
            costs = {
                a: self.cost(slope=not lab) if not lab else nw.Cost(0.0, self.log(0.02, 3))
                for a, lab in zip(names, labelled, strict=False)
            }
        who = dict(zip(names, ordered[int(rng.integers(len(ordered)))], strict=False)) if "named" in self.kind else None
        return Question(self.kind, self.seed, prior, goal, costs, who, places)

    def joint_prior(self, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        nw, rng, names = self.nw, self.rng, list("abcd")[:n]
        if self.often(0.5) or n > 3:
            sd, root = rng.choice([0.5, 1.0, 4.0], n), rng.normal(size=(n, n)) * self.pick(0.3, 1.0) + np.eye(n)
            cov = root @ root.T
            cov = cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov))) * np.outer(sd, sd)
            cov = (cov + cov.T) / 2 + np.diag(1e-3 * sd**2)
            mean = np.round(rng.normal(size=n) * 3, 1)
            return nw.MultivariateNormal(names, mean, cov), {
                a: m + s * np.linspace(-2.5, 2.5, 11) for a, m, s in zip(names, mean, sd, strict=True)
            }
        edges = [np.cumsum([0.0, *rng.choice([1.0, 2.0, 4.0], int(rng.integers(2, 6)))]) for _ in names]
        shape = [e.size - 1 for e in edges]
        return nw.JointHistogram(names, edges, np.reshape(self.shares(int(np.prod(shape)), empty=0.1), shape)), {
            a: np.linspace(e[0], e[-1], 11) for a, e in zip(names, edges, strict=True)
        }

    def joint(self) -> Question:
        """Bands or discs about two numbers, one of several, or three and more."""
        nw, how = self.nw, self.kind.split()[0]
        n = int(self.rng.integers(3, 5)) if how == "solid" else int(self.rng.integers(2, 5)) if how == "marginal" else 2
        prior, places = self.joint_prior(n)
        names = list(places)

        def band(a: str) -> Any:
            if self.often(0.8):
                return nw.On(a, nw.Within(float(np.ptp(places[a])) * self.log(0.04, 0.35)))
            return nw.On(a, nw.In.between(*sorted(self.rng.uniform(places[a][1], places[a][-2], 2).tolist())))

        costs: Any = {a: self.cost() for a in names}
        if how == "disc":
            goal = nw.On(("a", "b"), nw.Within(float(np.ptp(places["a"])) * self.log(0.05, 0.35)))
            goal, costs = (nw.Not(goal) if self.often(0.1) else goal), self.cost()
        elif how == "marginal":
            goal = band(self.pick(*names))
        else:
            goal = self.pick(nw.And, nw.Or)(
                tuple(
                    nw.Not(band(a)) if self.often(0.1) else band(a)
                    for a in (names if how == "bands" or self.often(0.5) else names[:2])
                )
            )
        named = "named" in self.kind or (how in ("solid", "marginal") and self.often(0.5))
        who = {a: self.victim_at(places[a]) for a in names} if named else None
        return Question(self.kind, self.seed, prior, goal, costs, who, places)
