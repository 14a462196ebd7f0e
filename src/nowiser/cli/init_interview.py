"""The four questions of `nowiser init` in order: what is asked, what is proposed, and the policy that follows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from nowiser.cli import init_questions as questions, init_words as words
from nowiser.cli.file_contents import Looking
from nowiser.cli.init_questions import MEMBERS, UNIFORM, UNKNOWN, Ask, KnownToAll, Secrets
from nowiser.errors import Misconfigured
from nowiser.guess.budget.allowance import refuse_empty_promises
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect
from nowiser.policy import parse
from nowiser.policy.draft import proposals
from nowiser.policy.draft.prior_text import at_first
from nowiser.policy.draft.profile import Profile
from nowiser.policy.draft.proposals import Tells
from nowiser.policy.draft.round_numbers import percent
from nowiser.policy.draft.text import Wishes, draft

T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """What the command line says already."""

    person: str | None
    sensitive: list[str] | None
    gain: str | None
    public: list[str] | None
    prior: list[str] | None
    protect: Protect | None

    @property
    def enough(self) -> bool:
        """The three answers that only the custodian has; the fourth has a proposal that is said aloud."""
        return bool(self.person and self.sensitive and self.gain)


@dataclass(frozen=True)
class Outcome:
    """What was answered, and the policy that says it. warnings: what was measured and should be known."""

    profile: Profile
    wishes: Wishes
    text: str
    policy: Policy
    warnings: tuple[str, ...]


class Interview:
    """`said`: the flags that say what was answered so far."""

    def __init__(self, looking: Looking, ask: Ask, given: Given, target: Path) -> None:
        self.looking, self.ask, self.given, self.target = looking, ask, given, target
        self.profile = looking.profile()
        self.said: list[str] = []

    def run(self) -> Outcome:
        profile, given = self.profile, self.given
        if not self.ask.quiet:
            words.show(profile)

        def mend(answer: str) -> str:
            return questions.mended(answer, profile)

        who = self._first(
            given.person is None,
            lambda: self._asked(
                "--person", questions.FIRST, proposals.person(profile), lambda a: questions.persons(a, profile), mend
            ),
            lambda: questions.persons(given.person or "", profile),
        )
        secrets = self._first(
            not given.sensitive,
            lambda: self._asked(
                "--sensitive",
                questions.SECOND,
                questions.spelled(proposals.secrets(profile, who)),
                lambda a: questions.secrets_of(questions.split(a), profile, who),
                mend,
            ),
            lambda: questions.secrets_of(given.sensitive or [], profile, who),
        )
        gain = self._first(
            given.gain is None,
            lambda: self._asked("--gain", questions.THIRD, percent(proposals.GAIN), questions.gain_of),
            lambda: questions.gain_of(given.gain or ""),
        )
        return self._fourth(who, secrets, gain)

    @staticmethod
    def _first(open_question: bool, ask: Callable[[], T], given: Callable[[], T]) -> T:
        return ask() if open_question else given()

    def _asked(
        self,
        flag: str,
        question: str,
        proposal: str,
        read: Callable[[str], T],
        mend: Callable[[str], str] | None = None,
    ) -> T:
        """An answer; what was typed is kept as a flag to go on from."""
        typed: list[str] = []

        def reading(answer: str) -> T:
            found = read(answer)
            typed.append(answer)
            return found

        found = self.ask(question, proposal, reading, mend)
        for part in questions.split(typed[-1]) if flag == "--sensitive" else typed[-1:]:
            self.said += [flag, part]
        return found

    def _fourth(self, who: tuple[str, ...], secrets: Secrets, gain: Fraction) -> Outcome:
        """What everybody knows. The draft is read back at once, so that an answer that contradicts itself is asked
        again.
        """
        profile, names = self.profile, tuple(name for name, _ in secrets)
        taken = (*who, *names)
        told = self._told(taken, names)
        proposed = proposals.public(profile, taken, told)
        people = self.looking.people(who)
        first = Wishes(
            who,
            secrets,
            gain,
            rows_per_person=self.looking.rows_per_person(who) if who else 1,
            people=people,
            spend=proposals.spend(people),
        )

        def read(parts: Iterable[str]) -> Outcome:
            known = questions.known_to_all(parts, profile, taken)
            wishes = self._with(first, known)
            text = draft(profile, wishes)
            warned = tuple(str(t) for t in told if t.giver in known.public and t.secret in names)
            return Outcome(profile, wishes, text, read_back(text, self.target), warned)

        proposal = [MEMBERS, *proposed, UNIFORM]
        if self.ask.quiet or self.given.prior is not None:
            return read(self._flags(proposed))
        at_first_sight = self._with(first, questions.known_to_all(proposal, profile, taken))
        words.fourth(profile, at_first_sight, told)
        return self.ask(
            questions.KNOWN,
            ", ".join(proposal),
            lambda answer: read(questions.split(answer)),
            lambda answer: questions.mended(answer, profile, MEMBERS, UNIFORM, UNKNOWN),
        )

    def _flags(self, proposed: Iterable[str]) -> list[str]:
        """The fourth answer as flags say it; where they say nothing, as it is proposed."""
        given = self.given
        hidden = given.protect is Protect.PERSONS
        public = [] if hidden else [p for p in given.public if p != "none"] if given.public else list(proposed)
        return [*([] if hidden else [MEMBERS]), *public, *(given.prior or [UNIFORM])]

    def _told(self, taken: tuple[str, ...], names: tuple[str, ...]) -> list[Tells]:
        """What harmless columns, and those that are called public, tell of others."""
        profile = self.profile
        rest = [c for c in profile.columns if c.name not in taken and not c.names_rows(profile.rows)]
        givers = [c for c in rest if proposals.harmless(c) or c.name in (self.given.public or ())]
        secret = [c for c in profile.columns if c.name in names]
        return self.looking.told(givers, [*secret, *(c for c in rest if c.is_listed)])

    def _with(self, first: Wishes, known: KnownToAll) -> Wishes:
        guarded = [c for c in self.profile.columns if c.name in dict(first.secrets)]
        priors = {c.name: at_first(c) for c in guarded} if known.prior == UNIFORM else {}
        return replace(
            first,
            protect=Protect.VALUES if known.members else Protect.PERSONS,
            public=known.public,
            priors={**priors, **known.priors},
        )


def read_back(text: str, target: Path) -> Policy:
    """The policy a text says. Raises Misconfigured where it, or a promise in it, makes no sense."""
    try:
        policy = parse(text, target)
    except Misconfigured as error:
        raise Misconfigured(error.message, hint=error.hint) from None  # without the place in a file that is not there
    refuse_empty_promises(policy)
    return policy
