"""What `nowiser init` proposes: who is a person, which guesses hurt, what everybody knows, how much a question spends.

Proposals follow from names and from numbers of different values. A custodian reads them, so each is a simple rule; and
each errs on the careful side: a column is proposed public only if its name says that it is harmless.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.percent import percent
from nowiser.policy.draft.profile import Profile, Seen
from nowiser.policy.draft.vocabulary import CODES, HARMLESS, HEALTH, HURTS, IDS, MONEY, PERSONS, TELLING
from nowiser.policy.tables import EACH_ROW

GAIN = Fraction(1, 10)
SMALL = 1_000  # people: fewer answer five questions well rather than ten badly
MOST_NUMBERS, MOST = 2, 3  # attackers that are proposed: after numbers, and in all
_DISTINCT, _REPEATED = 20, 50  # a column of ids has more values, and each at most so often on average


@dataclass(frozen=True)
class Tells:
    """A column from which another can be read off, or nearly. share: how much of what is unknown about it is told."""

    giver: str
    secret: str
    share: float
    number: bool = False  # of numbers the share is that of the variance

    @property
    def exact(self) -> bool:
        return self.share >= 1

    def __str__(self) -> str:
        if self.number:
            return f"{self.giver} tells {self.secret}: {percent(self.share, 0)} of its variance"
        how = "determines" if self.exact else "nearly determines"
        return f"{self.giver} {how} {self.secret}"


def person(profile: Profile) -> str:
    """The column that names persons: of those with such a name and as many values as ids have, the one with most.

    Without such a name, a column of texts that never repeat; but no free text: a note belongs to a row.
    """
    ids = [c for c in profile.columns if c.kind in (Kind.TEXT, Kind.INTEGER) and _id_like(c, profile.rows)]
    named = [c for c in ids if any(word in PERSONS for word in c.words)]
    called = [c for c in ids if c.words and c.words[-1] in IDS]
    best = max(named or called, key=lambda c: c.distinct, default=None)
    if best is not None:
        return best.name
    own = [c.name for c in ids if c.kind is Kind.TEXT and c.distinct == profile.rows and not c.blanks]
    return own[0] if own else EACH_ROW


def _id_like(seen: Seen, rows: int) -> bool:
    return seen.distinct == rows > 1 or (seen.distinct > _DISTINCT and seen.distinct * _REPEATED >= rows)


def secrets(profile: Profile, who: tuple[str, ...]) -> tuple[Seen, ...]:
    """At most three guesses that hurt: one label with a telling name, and numbers, money first.

    One attacker for each column would make every answer coarser: whatever is released about a person is charged to
    every attacker, because attributes of a person count as dependent, and the strictest one decides. What has no
    attacker is secret all the same, and questions about it are charged to the attackers there are.
    """
    rest = [
        c for c in profile.columns if c.name not in who and not c.names_rows(profile.rows) and c.distinct > 1
    ]  # a constant is no secret
    labels = sorted((c for c in rest if c.is_listed and _rank(c, HURTS) < len(HURTS)), key=lambda c: _rank(c, HURTS))
    counted = [c for c in rest if c.has_range and not set(CODES) & set(c.words)]
    numbers = sorted(counted, key=lambda c: _rank(c, MONEY) == len(MONEY))
    chosen = [*labels[:1], *numbers[:MOST_NUMBERS]][:MOST]
    if chosen:
        return tuple(chosen)
    unclear = [c for c in rest if c.is_listed and not harmless(c)] or [c for c in rest if c.is_listed] or rest
    return tuple(unclear[:1])


def _rank(seen: Seen, words: tuple[str, ...]) -> int:
    return min((words.index(word) for word in seen.words if word in words), default=len(words))


def harmless(seen: Seen) -> bool:
    """Whether a name says that everybody may know it: few values, the last word is harmless, and none is telling."""
    return seen.is_listed and bool(seen.words) and seen.words[-1] in HARMLESS and not set(TELLING) & set(seen.words)


def public(profile: Profile, taken: Iterable[str], told: Iterable[Tells] = ()) -> tuple[str, ...]:
    """Columns that everybody knows: the harmless ones, and what is determined by them. None that tells a secret."""
    taken, told = set(taken), list(told)
    giving = {t.giver for t in told if t.secret in taken}
    open_ones = [c.name for c in profile.columns if c.name not in taken and harmless(c) and c.name not in giving]
    follow = {t.secret for t in told if t.exact and t.giver in open_ones and t.secret not in taken | giving}
    return tuple(c.name for c in profile.columns if c.name in open_ones or c.name in follow)


def about_health(profile: Profile) -> bool:
    """Whether being in the table may tell something: its names speak of patients and clinics."""
    return any(set(HEALTH) & set(c.words) for c in profile.columns)


def spend(people: int) -> Fraction:
    """The default share of the allowance for a question."""
    return Fraction(1, 5) if people < SMALL else Fraction(1, 10)
