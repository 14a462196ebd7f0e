"""The game of released rows: victims from the original, people outside, and which released row is whose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.believed import best_before, hits, prior_of, secret_of
from nowiser.attacks.candidates import candidates
from nowiser.attacks.curves import roc
from nowiser.attacks.predicates import isolated
from nowiser.attacks.stacked import together
from nowiser.attacks.victims import TOO_FEW, Trial, most_masked
from nowiser.attacks.view import Attack, Bools, Floats, Guesses, Ints, Rerun, Run, View
from nowiser.attacks.walls import Behind, copied
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

MEMBERS: Run = "members"
OUTSIDE: Run = "outside"
SPLIT = 400  # people; with fewer, nobody is kept for a second run
NO_FRESH = "too few people for a second run on others"
NOBODY_OUTSIDE = "needs people outside the release (--control) or the recipe (--recipe, --generator)"


@dataclass(frozen=True, eq=False)
class Rows:
    """A release of rows, held against the original."""

    original: MicroTable
    released: MicroTable  # `origin` is −1 where nobody knows which row is whose
    quasi: tuple[str, ...] = ()
    secret: str | None = None
    within: float | None = None
    control: MicroTable | None = None
    releases: tuple[MicroTable, ...] = ()
    aux: MicroTable | None = None
    identity: str | None = None  # a column of `aux` and the original
    codebook: Mapping[str, Any] | None = None
    labels: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    rerun: Rerun | None = None
    person: str | None = None  # a column of the original
    seed: int = 0
    against: str = "tables"

    @property
    def offers(self) -> frozenset[str]:
        there = {
            "released": True,
            "quasi": bool(self.quasi),
            "secret": self.secret is not None,
            # of two values, ruling out one says the other
            "ruled out": self.secret is not None and self.within is None and self.original[self.secret].distinct > 2,
            "reference": self.control is not None or self.rerun is not None,
            "releases": bool(self.releases),
            "aux": self.aux is not None,
            "rerun": self.rerun is not None,
            "aligned": bool(self.released.rows and (self.released.origin >= 0).all()),
        }
        return frozenset(name for name, is_there in there.items() if is_there)

    @cached_property
    def order(self) -> Ints:
        """A fixed random order of the rows; those of one person stand together."""
        random = np.random.default_rng([self.seed, 1])
        mixed = random.permutation(self.original.rows)
        if self.whose is None:
            return mixed
        rank = random.permutation(int(self.whose.max(initial=0)) + 1)
        return mixed[np.argsort(rank[self.whose[mixed]], kind="stable")]

    @cached_property
    def whose(self) -> Ints | None:
        """The person of each original row, where a column tells; −1 becomes nobody's own."""
        if self.person is None or self.person not in self.original:
            return None
        codes = self.original[self.person].codes.astype(np.int64)
        return np.where(codes < 0, int(codes.max(initial=0)) + 1 + np.arange(len(codes)), codes)

    def _middle(self, among: Ints) -> int:
        """Half of these rows, in their order, so that nobody has rows in both halves."""
        half = len(among) // 2
        while (
            self.whose is not None and 0 < half < len(among) and self.whose[among[half]] == self.whose[among[half - 1]]
        ):
            half += 1
        return half

    def _drawn(self, among: Ints, victims: int, *, fresh: bool) -> Ints:
        """The first so many in a fixed random order, at most half of many; fresh ones are from the other half."""
        half = self._middle(among) if len(among) >= SPLIT else len(among)
        return (among[half:] if fresh else among[:half])[:victims]

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        if fresh and self.original.rows < SPLIT:
            return NO_FRESH
        if attack.goal == "value":
            return self._value(run, victims, random, fresh, attack.needs)
        games = {"row": self._row, "presence": self.presence, "one person": self._one_person}
        made = games.get(attack.goal)
        if made is None:
            return f"a goal of its kind ({attack.goal}) is not tried on released rows"
        return made(run, victims, random, fresh)

    def _seen(self, run: Run, random: np.random.Generator) -> tuple[MicroTable, Ints]:
        """What is released in this run, in random order, and which original row each row is."""
        table = self.released
        if run == "unprotected":
            table = MicroTable.of(self.original[n] for n in self.original.names if n in self.released)
        mixed = shuffled(table, random)
        return mixed, mixed.origin

    def _view(self, seen: MicroTable, known: MicroTable, run: Run, random: np.random.Generator) -> View:
        prior = None
        if self.secret is not None:
            prior = copied(self.original.take(random.permutation(self.original.rows)), (self.secret,))
        return View(
            known=known,
            released=copied(seen, seen.names),
            releases=() if run == "unprotected" else tuple(copied(shuffled(r, random), r.names) for r in self.releases),
            codebook=self.codebook,
            labels=self.labels,
            quasi=tuple(q for q in self.quasi if q != self.secret),
            secret=self.secret,
            within=self.within,
            prior=prior,
            rerun=None if self.rerun is None else Behind(as_it_is if run == "unprotected" else self.rerun),
        )

    def _value(
        self, run: Run, victims: int, random: np.random.Generator, fresh: bool, needs: frozenset[str]
    ) -> Trial | str:
        assert self.secret is not None
        source, among = self.original, self.order
        if run == "outside":
            if self.control is None:
                return self._crossed(victims, random, needs) if self.rerun is not None else NOBODY_OUTSIDE
            source, among = self.control, random.permutation(self.control.rows)
        who = self._drawn(among, victims, fresh=fresh)
        seen, _ = self._seen(run, random)
        return self._asked(seen, source, who, run, random, needs)

    def _asked(  # noqa: PLR0917 (who asks whom about what)
        self,
        seen: MicroTable,
        source: MicroTable,
        who: Ints,
        run: Run,
        random: np.random.Generator,
        needs: frozenset[str],
    ) -> Trial:
        assert self.secret is not None
        here = source.take(who)
        truth = here[self.secret]
        quasi = tuple(q for q in self.quasi if q != self.secret)
        before = best_before(self.original[self.secret], self.within)
        persons = here[self.person].codes.astype(np.int64) if self.person and self.person in here else None
        view = self._view(seen, copied(here, quasi), run, random)
        known_before: Any = before
        if "ruled out" in needs:
            gone = ruled_out(view, truth, random)
            view = replace(view, more={"ruled out": gone})
            known_before = best_without(self.original[self.secret], gone)
        return Trial(
            view,
            lambda g: hits(g.value, truth, self.within).astype(bool),
            hits(known_before, truth, self.within).astype(bool),
            persons,
        )

    def _crossed(self, victims: int, random: np.random.Generator, needs: frozenset[str]) -> Trial:
        """The same people at a release of the half without them, and (the twin) at a release of their own half."""
        here, there = self.half(0), self.half(1)
        who = there.order[:victims]
        trials = [
            self._asked(shuffled(half.released, random), there.original, who, run, random, needs)
            for half, run in ((here, OUTSIDE), (there, MEMBERS))
        ]
        return replace(trials[0], persons=who if trials[0].persons is None else trials[0].persons, twin=trials[1])

    def half(self, which: int) -> "Rows":
        """A release of half of the people by the same recipe; the other half are the people outside."""
        return self._halves[which]

    @cached_property
    def _halves(self) -> tuple["Rows", "Rows"]:
        assert self.rerun is not None
        random = np.random.default_rng([self.seed, 2])
        split = np.split(self.order, [self._middle(self.order)])
        parts = [MicroTable.of(self.original.take(np.sort(p)).columns) for p in split]
        first, second = (
            replace(self, original=own, released=self.rerun(own, random), control=other, releases=(), aux=None)
            for own, other in (parts, parts[::-1])
        )
        return first, second

    def _row(self, run: Run, victims: int, random: np.random.Generator, fresh: bool) -> Trial | str:
        seen, owner = self._seen(run, random)
        place = np.full(self.original.rows, -1, dtype=np.int64)
        place[owner] = np.arange(seen.rows)
        among = self.order[place[self.order] >= 0]
        more: dict[str, Any] = {}
        if self.aux is not None and self.identity is not None:
            there = listed(self.original, self.aux, self.identity)
            among = among[there[among] >= 0]
            more["aux"] = copied(self.aux.take(random.permutation(self.aux.rows)), self.quasi)
        who = self._drawn(among, victims, fresh=fresh)
        if not len(who):
            return "nobody of the outside list is in the original"
        if run == "outside":  # their own rows are taken out: whomever he names now, he names wrongly
            who = who[: most_masked(seen.rows)]
            if not len(who):
                return TOO_FEW
            rest = np.setdiff1d(np.arange(seen.rows), place[who])
            seen, place = seen.take(rest), np.full(self.original.rows, -1, dtype=np.int64)
        if self.aux is None or self.identity is None:
            known = copied(self.original.take(who), self.quasi)
        else:
            known = copied(self.aux.take(there[who]), self.quasi)
        own = place[who]
        view = replace(self._view(seen, known, run, random), more=more)
        return Trial(view, lambda g: np.asarray((g.value == own) & (own >= 0)), 1 / max(1, seen.rows))

    def presence(self, run: Run, victims: int, random: np.random.Generator, fresh: bool) -> Trial | str:
        if run == "outside":
            return "half of the victims are outside"
        if self.control is None:
            return NOBODY_OUTSIDE if self.rerun is None else self.half(0).presence(run, victims, random, fresh)
        seen, _ = self._seen(run, random)
        names = [n for n in self.original.names if n in self.released and n in self.control]
        mix = np.random.default_rng([self.seed, 3]).permutation(self.control.rows)
        reference, strangers = mix[: len(mix) // 2], mix[len(mix) // 2 :]
        if len(mix) >= SPLIT:  # those of a second run are others
            strangers = np.array_split(strangers, 2)[int(fresh)]
        inside = self._drawn(self.order, min(victims // 2 or 1, len(strangers)), fresh=fresh)
        strangers = strangers[: len(inside)]
        known = together(copied(self.original.take(inside), names), copied(self.control.take(strangers), names))
        member = np.repeat([True, False], [len(inside), len(strangers)])
        shuffle = random.permutation(len(member))
        member = member[shuffle]
        view = replace(
            self._view(seen, copied(known.take(shuffle), names), run, random),
            reference=copied(self.control.take(reference), names),
        )
        return Trial(
            view,
            lambda g: np.asarray(g.value.astype(bool) == member),
            0.5,
            figures=membership(member),
            curve=lambda g: roc(signed(g), member),
        )

    def _one_person(self, run: Run, victims: int, random: np.random.Generator, fresh: bool) -> Trial | str:
        del fresh
        if run == "outside" and self.control is None:
            return "needs people outside the release (--control)"
        seen, _ = self._seen("unprotected" if run == "unprotected" else "members", random)
        other = self.original if self.control is None else self.control
        many = min(victims, seen.rows)
        nothing = copied(seen.take(np.zeros(many, dtype=np.int64)), ())  # so many rows, no columns
        view = self._view(seen.without([n for n in seen.names if n not in other]), nothing, run, random)
        inside = Trial(view, lambda g: isolated(g.value, self.original), by_chance(self.original.rows))
        if run != "outside":
            return inside
        # the same predicates, tried on other people
        return Trial(view, lambda g: isolated(g.value, other), by_chance(other.rows), np.arange(many), twin=inside)


def ruled_out(view: View, truth: Column, random: np.random.Generator) -> NDArray[Any]:
    """For each victim a value her secret is not: one of her look-alikes', as often as they have it, if there is one."""
    assert view.released is not None
    assert view.secret is not None
    column, share = prior_of(view)
    votes = candidates(view).votes(secret_of(view, view.released[view.secret])) + 1e-6 * share
    values = np.array(column.labels, dtype=object)
    mine = np.array([*truth.labels, None], dtype=object)[truth.codes]
    votes *= values[None, :] != mine[:, None]
    reached = np.cumsum(votes, axis=1)
    drawn: NDArray[Any] = values[
        (reached < random.random((len(reached), 1)) * reached[:, -1:]).sum(axis=1).clip(max=len(values) - 1)
    ]
    return drawn


def best_without(column: Column, gone: NDArray[Any]) -> NDArray[Any]:
    """The most frequent value that is not ruled out, for each victim."""
    first, second = np.array(column.labels, dtype=object)[np.argsort(-column.counts(), kind="stable")[:2]]
    return np.asarray(np.where(gone == first, second, first), dtype=object)


def by_chance(n: int) -> float:
    """How often a predicate chosen blindly singles somebody out: n·w·(1 − w)^(n−1), largest at w = 1/n, about 1/e."""
    return float((1 - 1 / n) ** (n - 1)) if n > 1 else 1.0


def shuffled(table: MicroTable, random: np.random.Generator) -> MicroTable:
    """The rows in random order."""
    return table.take(random.permutation(table.rows))


def listed(original: MicroTable, aux: MicroTable, identity: str) -> Ints:
    """For every original row the row of the outside list with the same identity; −1 where there is none or several."""
    from nowiser.microdata.risk.linking import shared_codes

    true, seen = shared_codes(original[identity], aux[identity])
    size = int(max(true.max(initial=0), seen.max(initial=0))) + 1
    count = np.bincount(seen[seen >= 0], minlength=size)
    where = np.full(size + 1, -1, dtype=np.int64)
    where[seen[seen >= 0]] = np.flatnonzero(seen >= 0)
    where[:-1][count > 1] = -1
    return where[true]


def signed(g: Guesses) -> Floats:
    """How sure he is that she was in; negative: that she was not."""
    return np.where(g.value.astype(bool), g.confidence, -g.confidence)


def as_it_is(table: MicroTable, random: np.random.Generator) -> MicroTable:
    """A recipe that protects nobody."""
    del random
    return table


def membership(member: Bools) -> Callable[[Guesses], Mapping[str, float]]:
    """AUC, and the share of members named when 1 % of the strangers are."""

    def figures(g: Guesses) -> Mapping[str, float]:
        from scipy.stats import rankdata

        score = signed(g)
        ranks = rankdata(score)
        inside, outside = int(member.sum()), int((~member).sum())
        auc = (ranks[member].sum() - inside * (inside + 1) / 2) / max(1, inside * outside)
        cut = np.quantile(score[~member], 0.99)
        return {"AUC": float(auc), "found at 1 % false claims": float((score[member] > cut).mean())}

    return figures
