"""The custodian's report as pages: from its content (plain values) to a document."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from nowiser.model.advantage import points
from nowiser.model.attacker import EVERY_ANSWER
from nowiser.report.custodian.assessment import assessment
from nowiser.report.document.blocks import Block, Document, Facts, Figure, Grid, Items, Section, Text

Content = Mapping[str, Any]

KEPT = "Every promise is kept."
BROKEN = "A limit is passed: no further question is answered."


def pages(content: Content) -> Document:
    policy = content["policy"]
    names = ", ".join(t["table"] for t in policy["tables"] if t["protect"] != "nothing")
    return Document(
        f"Privacy report: {names}" if names else "Privacy report",
        f"Policy {policy['name']}, digest {policy['digest'][:16]}. Made {content['made']} by nowiser "
        f"{content['nowiser']}. No value from the data is in it.",
        (
            _summary(content),
            _promised(content),
            _attackers(content),
            _asked(content),
            *([_released(content)] if content["releases"] or len(content["changes"]) > 1 else []),
            _left(content),
            assessment(content),
        ),
    )


def _summary(content: Content) -> Section:
    kept = all(g["after"] <= g["limit"] for g in content["guesses"])
    asked, released = content["questions"]["count"], len(content["releases"])
    nearest = max(content["guesses"], key=lambda g: g["gained"] / max(g["allowed"], 1e-9), default=None)
    words = [KEPT if kept else BROKEN]
    if nearest is not None and asked + released:
        words.append(
            f"Nearest to its limit: guessing {nearest['words']} became at most {_up(nearest['gained'])} of "
            f"{nearest['allowed']:.4g} allowed points better."
        )
    elif not asked + released:
        words.append("Nothing has been asked or released yet.")
    ledger = content["ledger"]
    facts = (
        ("questions answered", f"{asked - content['questions']['failed']:,}"),
        ("tables released", f"{released:,}"),
        ("most gained", "–" if nearest is None else f"{_up(nearest['gained'])} points"),
        ("allowance left", _left_share(content)),
        (f"ledger, {ledger['entries']:,} entries", "verified" if ledger["entries"] else "not begun"),
    )
    return Section("", (Text(" ".join(words), "lead"), Facts(facts)))


def _promised(content: Content) -> Section:
    policy = content["policy"]
    rows = tuple((t["table"], t["person"], t["secret"], t["known"]) for t in policy["tables"])
    knows = {p["knows"] for p in policy["promises"]}
    every = all(p["promise"] == EVERY_ANSWER for p in policy["promises"])
    whom = "for every person" if every else "for every person, or on average where that is said"
    sentence = (
        f"The promises below hold {whom}, over all answers and releases together, whoever asked"
        f"{', against attackers who know ' + knows.pop() if len(knows) == 1 else ''}. {policy['analysts']}"
    )
    return Section(
        "What is promised",
        (
            Grid(("table", "whose rows", "secret", "everybody knows"), rows, "tttt"),
            Text(sentence),
            Grid(
                ("an attacker tries to guess", "may become better by", "believed beforehand"),
                tuple((p["words"], f"{100 * p['gain']:.4g} points", p["believes"]) for p in policy["promises"]),
                "tnt",
            ),
        ),
    )


def _attackers(content: Content) -> Section:
    told = tuple(
        f"{g['words']}: {points(g['before'])} before any answer, at most {points(g['after'])} now, "
        f"limit {points(g['limit'])}"
        for g in content["guesses"]
    )
    blocks: list[Block] = []
    if content["guesses"]:
        blocks.append(Figure(picture(content), told))
        blocks.append(
            Text(
                "Probability of a correct guess about the most exposed person: before any answer → now, at most "
                "(limit). Blue: points gained so far. Orange: the promise ends there.",
                "quiet",
            )
        )
    if content["unguarded"]:
        names = ", ".join(content["unguarded"])
        blocks.append(Text(f"No attacker is declared for {names}: answers about it never run out.", "note"))
    return Section("What attackers can guess", tuple(blocks))


def picture(content: Content) -> str:
    """Every attacker before → now → limit, as SVG without a background."""
    from nowiser.report.charts.attackers import panel
    from nowiser.report.offline import offline, svg

    return svg(offline(panel(content["guesses"], width=420, row=28)).properties(background="transparent", padding=2))


def _asked(content: Content) -> Section:
    asked = content["questions"]
    if not asked["count"]:
        return Section("Who asked what", (Text("Nobody has asked anything that costs."),))
    rows = [(q["at"], _who(q), q["what"], _points(q["points"])) for q in asked["shown"]]
    rest = f", {asked['more']:,} of them not shown" if asked["more"] else ""
    against = next((g for g in content["guesses"] if g["guess"] == asked["against"]), None)
    if against is not None:
        total = f"{_up(against['gained'])} of {against['allowed']:.4g}"
        many = "1 question" if asked["count"] == 1 else f"{asked['count']:,} questions{rest}"
        rows.append(("all", "", many, total))
    people = tuple(
        (
            a["name"] or "unnamed",
            f"{a['questions']:,}",
            f"{a['failed']:,}",
            points(a["used"], up=True),
            "–" if a["granted"] is None else points(a["granted"]),
            "closed after failures" if a["closed"] else "may ask",
        )
        for a in content["analysts"]
    )
    note = (
        f"Points: what each answer added to the gain of the attacker nearest to his limit ({asked['against']}), "
        "rounded up; the last line is for everything charged. Questions are the analysts' own words; nothing in them "
        "comes from the data."
    )
    blocks: tuple[Block, ...] = (
        Grid(("when (UTC)", "analyst", "question", "points"), tuple(rows), "ttcn", total=against is not None),
        Text(note, "quiet"),
    )
    if len(people) > 1:
        head = ("analyst", "questions", "failed", "used of the allowance", "granted", "access")
        blocks += (Grid(head, people, "tnnnnt"),)
    return Section("Who asked what", blocks)


def _released(content: Content) -> Section:
    rows = [(r["at"], r["analyst"], f"released: {r['what']}", points(r["share"], up=True)) for r in content["releases"]]
    rows += [(c["at"], c["analyst"], f"{c['state']}: {c['what']}", "") for c in content["changes"]]
    head = ("when (UTC)", "who", "what", "used of the allowance")
    return Section("Releases, and changes of the policy", (Grid(head, tuple(sorted(rows)), "tttn"),))


def _left(content: Content) -> Section:
    typical, ledger = content["typical"], content["ledger"]
    share = f"{100 * typical['spend']:.3g} %"
    many = typical["answers"]
    words = f"{_left_share(content)} of the allowance is left: "
    words += (
        f"about {many:,} answers at the usual price of {share} each." if many else f"less than one answer at {share}."
    )
    blocks: list[Block] = [Text(words)]
    if typical["examples"]:
        blocks.append(Items(tuple(f"{e[0].upper()}{e[1:]}" for e in typical["examples"])))
    if content["failing"]:
        blocks.append(Text(f"All figures hold except with probability {content['failing']:.2g}."))
    said = (
        f"The ledger has {ledger['entries']:,} entries and every hash was verified for this report. Head: "
        f"{ledger['head']}. Keep this line: with it you can tell later whether anything before it was changed "
        "(nowiser ledger verify)."
        if ledger["entries"]
        else "There is no ledger yet; it starts with the first question."
    )
    blocks.append(Text(said))
    blocks += [Text(f"{f['level']}: {f['text']}", "note") for f in content["findings"] if f["level"] != "note"]
    notes = tuple(f["text"] for f in content["findings"] if f["level"] == "note")
    if notes:
        blocks += [Text("From nowiser check, for the custodian only:"), Items(notes)]
    return Section("What is left, and how to check this report", tuple(blocks))


def _who(question: Mapping[str, Any]) -> str:
    failed = "" if question["state"] == "answered" else f" ({question['state']})"
    return f"{question['analyst'] or 'unnamed'}{failed}"


def _left_share(content: Content) -> str:
    return f"{int(1000 * content['left'] + 1e-9) / 10:.1f} %"


def _up(gained: float) -> str:
    """Points, rounded up to hundredths but for noise of the arithmetic."""
    return f"{ceil(100 * gained - 1e-6) / 100:.2f}"


def _points(added: float) -> str:
    return _up(added) if added >= 0.005 else "< 0.01"
