"""What a ledger says: who asked what, what it used, and how every attacker stood after each answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from nowiser.guess.budget.allowance import Guess, share_used, standing
from nowiser.guess.budget.exposure import failing
from nowiser.ledger.access import closed
from nowiser.ledger.base import Entry
from nowiser.model.charge import UNIT, Charge, from_json
from nowiser.model.policy import Policy
from nowiser.percent import percent
from nowiser.report.theme import BETTER, LIMIT, SEQUENCE, altair, beside_lines, data, points_axis, themed, whole_axis

NOTHING = Charge()
STEPS = 60  # points of the picture; a ledger with more charges is thinned out


@dataclass(frozen=True)
class Line:
    """One charge, one change of policy, access opened again, or an act of whoever administers."""

    seq: int
    at: str
    kind: str  # question, publication, policy, access, act
    who: str
    what: str
    state: str  # answered, failed, open, interrupted; for a policy: declared, loosened; for access: opened
    charge: Charge
    share: Fraction  # of the whole allowance

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "at": self.at,
            "kind": self.kind,
            "analyst": self.who,
            "sql" if self.kind == "question" else "what": self.what,
            "state": self.state,
            "cost": {
                str(account): amount / UNIT[account.kind]
                for account, amount in self.charge.amounts
                if account.kind != "delta"
            },
            "share": float(self.share),
        }


@dataclass(frozen=True)
class Account:
    """Everything the ledger tells about the promises of a policy."""

    lines: tuple[Line, ...]
    totals: Charge
    guesses: tuple[Guess, ...]
    used: Fraction
    analysts: tuple[tuple[str, Fraction, Fraction | None], ...]  # name, share used, share granted
    failing: Fraction
    failures: dict[str, int] = field(default_factory=dict)  # per analyst, since the custodian last looked
    closed: tuple[str, ...] = ()  # who may not ask because of them

    @property
    def left(self) -> Fraction:
        return 1 - self.used

    def to_json(self) -> dict[str, Any]:
        return {
            "entries": [line.to_json() for line in self.lines],
            "guesses": [g.to_json() for g in self.guesses],
            "left": float(self.left),
            "analysts": {
                name: {"used": float(used), "share": None if share is None else float(share)}
                for name, used, share in self.analysts
            },
            "failing": float(self.failing),
            "failures": self.failures,
            "closed": list(self.closed),
        }


def told(act: Mapping[str, Any]) -> str:
    """What was done, to whom, and why."""
    about = f"{act['account']}: " if "account" in act else ""
    return about + str(act["what"]) + (f": {act['reason']}" if act.get("reason") else "")


def account(policy: Policy, entries: Iterable[Entry], analysts: dict[str, Charge], failures: dict[str, int]) -> Account:
    """Read the chain once. Costs are judged by the policy as it is now."""
    lines: dict[int, Line] = {}
    totals, proved = Charge(), bool(policy.analysts)
    for entry in entries:
        body = entry.body
        proved |= entry.kind == "act" and "account" in body  # a server proves who asks
        if entry.kind in ("settle", "failed"):
            old = lines[body["reservation"]]
            owed = from_json(body.get("charge", ()))
            totals += owed
            charge = old.charge + owed
            lines[old.seq] = replace(
                old,
                state="answered" if entry.kind == "settle" else "failed",
                charge=charge,
                share=share_used(policy, charge) if owed else old.share,
            )
        elif entry.kind == "look":  # paid for by its alarm
            continue
        elif entry.kind == "policy":
            state = "loosened" if body["loosened"] else "declared"
            what = f"policy {body['digest'][:12]}" + (f": {body['reason']}" if body["reason"] else "")
            lines[entry.seq] = Line(entry.seq, body["at"], "policy", "", what, state, Charge(), Fraction(0))
        elif entry.kind == "act":
            lines[entry.seq] = Line(entry.seq, body["at"], "act", body["by"], told(body), "done", NOTHING, Fraction(0))
        elif entry.kind == "reopened":
            what, who = f"access opened again: {body['reason']}", body["analyst"]
            lines[entry.seq] = Line(
                entry.seq,
                body["at"],
                "access",
                "everybody" if who is None else who,
                what,
                "opened",
                NOTHING,
                Fraction(0),
            )
        else:
            charge = from_json(body["charge"])
            totals += charge
            kind, what = ("question", body["sql"]) if entry.kind == "reserve" else ("publication", body["what"])
            state = "open" if entry.kind == "reserve" else "published"
            share = share_used(policy, charge)
            if "reservation" in body:  # of a dead process, taken over
                lines[body["reservation"]] = replace(lines[body["reservation"]], state="interrupted")
            lines[entry.seq] = Line(entry.seq, body["at"], kind, body["analyst"], what, state, charge, share)
    people = tuple((name, share_used(policy, own), policy.analysts.get(name)) for name, own in analysts.items())
    return Account(
        tuple(lines.values()),
        totals,
        standing(policy, totals),
        share_used(policy, totals),
        people,
        failing(policy, totals),
        failures,
        tuple(name for name in failures if closed(failures, name, proved=proved)),
    )


def course(policy: Policy, lines: Iterable[Line]) -> list[tuple[int, tuple[Guess, ...]]]:
    """How every attacker stood after each charge: (number of charges, guesses)."""
    charges = [line.charge for line in lines if line.charge]
    every = -(-len(charges) // STEPS) if charges else 1
    totals, found = Charge(), [(0, standing(policy, Charge()))]
    for i, charge in enumerate(charges, 1):
        totals += charge
        if i % every == 0 or i == len(charges):
            found.append((i, standing(policy, totals)))
    return found


def chart(policy: Policy, read: Account) -> Any:
    """After each answer: how much better every attacker guesses at most, below the gain that was promised.

    The gain is drawn, not the guess itself: the most exposed victim changes from answer to answer, and with him the
    guess before; his gain only grows.
    """
    alt = altair()
    steps = course(policy, read.lines)
    most = len([line for line in read.lines if line.charge])
    x = alt.X("n:Q", title="answers given", axis=whole_axis(), scale=alt.Scale(domain=[0, max(1, most)], nice=False))
    high = 1.12 * max((float(a.gain) for a in policy.attackers), default=1.0)
    y = alt.Y("value:Q", title=f"{BETTER}, at most", axis=points_axis(), scale=alt.Scale(domain=[0, high], nice=False))
    texts = [attacker.text for attacker in policy.attackers]
    shades = [SEQUENCE[i % len(SEQUENCE)] for i in range(len(texts))]
    colour = alt.Color("guess:N", scale=alt.Scale(domain=texts, range=shades), legend=None)
    layers, ends = [], []
    for limit in sorted({float(attacker.gain) for attacker in policy.attackers}):
        words = f"promised: at most {100 * limit:.4g} points"
        rule = alt.Chart(data([{"n": 0, "value": limit, "text": words}])).encode(y=y)
        layers += [
            rule.mark_rule(color=LIMIT, strokeDash=[5, 4], strokeWidth=1.5),
            rule.mark_text(align="left", dy=-8, dx=4, color=LIMIT, fontWeight=600).encode(x=x, text="text:N"),
        ]
    for i, text in enumerate(texts):
        rows = [{"n": n, "value": g[i].after - g[i].before, "guess": text} for n, g in steps]
        dash = [1, 0] if i == 0 else [12 - 2 * i, 4 + 2 * i]  # of lines on each other all are seen
        base = alt.Chart(data(rows)).encode(x=x, y=y, color=colour)
        layers.append(base.mark_line(interpolate="step-after", strokeDash=dash))
        ends.append({"x": max(1, most), "y": rows[-1]["value"], "guess": text, "text": text})
    said = f"{percent(float(read.left))} of the allowance is left" if most else "nothing has been asked yet"
    return themed(
        alt.layer(*layers, beside_lines(ends, high, colour)).properties(width=560, height=320),
        f"What all answers together tell: {said}",
        "How much better each attacker guesses at most, after every answer, whoever asked",
    )
