"""Text for a data-protection impact assessment, from the figures of a custodian's report. To adapt; no legal advice."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.model.advantage import points
from nowiser.report.document.blocks import Block, Grid, Items, Section, Text

WEAKNESSES = "docs/known-weaknesses.md"


def assessment(content: Mapping[str, Any]) -> Section:
    """Art. 35(7) GDPR, recital 26, and the three criteria of WP 216; what no figure here covers."""
    blocks: tuple[Block, ...] = (
        Text("Square brackets mark what only the controller can say. This is no legal advice.", "note"),
        Grid(("art. 35(7) GDPR", "text to adapt"), tuple(_article_35(content)), "tt"),
        Text(_recital_26(content)),
        Grid(("WP 216 asks for", "answers of the gateway", "released tables"), tuple(_criteria(content)), "ttt"),
        Text("Not covered by any figure in this report:"),
        Items(tuple(_not_covered(content))),
        Text(f"Attacks and errors that nowiser does not prevent, with measurements: {WEAKNESSES}.", "quiet"),
    )
    return Section("Annex: text for a data-protection impact assessment", blocks, annex=True)


def _article_35(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    policy, head = content["policy"], content["ledger"]["head"]
    about = _joined([t["table"] for t in policy["tables"] if t["protect"] != "nothing"])
    released = len(content["releases"])
    description = (
        f"Statistical questions about {about} are answered through nowiser {content['nowiser']} under the policy with "
        f"digest {policy['digest'][:16]}. Answers carry random noise; rows are not shown."
    )
    if released:
        description += f" Besides, rows were released {'once' if released == 1 else f'{released:,} times'}."
    proportion = (
        f"All answers draw on one allowance, of which {points(content['used'], up=True)} is used. What is not asked is "
        "not released."
    )
    measures = (
        "The noise is computed from the promise. Each charge is stored before data are read; a question that would "
        "break a promise is refused. The ledger is a chain of hashes; "
    )
    measures += f"it verified with head {head[:16]}." if head else "nothing has been asked yet."
    return [
        ("(a) description", f"{description} [Purposes, legal basis, recipients, storage periods.]"),
        ("(b) necessity and proportionality", f"{proportion} [Why the purposes cannot be reached with less.]"),
        ("(c) risks to persons", f"{_risks(content)} [How severe a correct guess would be for the person.]"),
        ("(d) measures", f"{measures} [Access control, training, who verifies the ledger and when.]"),
    ]


def _risks(content: Mapping[str, Any]) -> str:
    told = "; ".join(
        f"{g['words']}: {points(g['before'])} before, at most {points(g['after'])} now, never more than "
        f"{points(g['limit'])}"
        for g in content["guesses"]
    )
    return (
        "The risk is that somebody learns about a person what he could not guess before. "
        "Probability of a correct guess about the most exposed person, by somebody who believes the stated priors: "
        f"{told}."
    )


def _recital_26(content: Mapping[str, Any]) -> str:
    words = (
        "Recital 26 (“all the means reasonably likely to be used”): the figures for answers hold against any method "
        "and any computer, for an attacker who knows the record of everybody else. They rest on the stated priors, on "
        "persons who are independent of each other, and on this ledger holding every release"
    )
    failing = content["failing"]
    return words + (f", and fail with probability {failing:.1g} at most." if failing else ".")


def _criteria(content: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    tables = content["policy"]["tables"]
    hidden = [t["table"] for t in tables if t["protect"] == "persons"]
    shown = [t["table"] for t in tables if t["protect"] == "values"]
    linked = [t["table"] for t in tables if t["protect"] == "links"]
    singled = "No rows are shown."
    if hidden:
        singled += f" Noise covers who is in {_joined(hidden)}, too (protect: persons)."
    if linked:
        singled += f" In {_joined(linked)} noise covers each single link, not all links of a person (protect: links)."
    if shown:
        singled += f" Who is in {_joined(shown)} is public by declaration, and not protected."
    guarded = _joined([g["guess"] for g in content["guesses"]])
    some = bool(content["releases"])
    none = "none released"
    return [
        ("singling out", singled, "k-anonymity and uniques: in the report of each release" if some else none),
        (
            "linkability",
            "Answers hold no records and no pseudonyms. All answers, to all analysts, are charged to one account.",
            "record linkage against the original: nowiser compare" if some else none,
        ),
        (
            "inference",
            f"The promise itself: before, now and limit for {guarded}.",
            "gain for each sensitive column: in the report of each release" if some else none,
        ),
    ]


def _not_covered(content: Mapping[str, Any]) -> list[str]:
    found = [
        "Whether the priors are right, and whether what is declared public is public. The custodian states both.",
        "Persons who depend on each other: families, wards, contagion.",
        "Other releases of the same data that are not in this ledger.",
        "Whether the gain is acceptable for this secret: that is a judgement, not a computation.",
        "The machine: the data lie there in clear, and running times depend a little on the rows.",
    ]
    if content["unguarded"]:
        found.insert(0, f"No attacker is declared for {_joined(content['unguarded'])}: answers about it never run out.")
    return found


def _joined(names: Sequence[str], most: int = 6) -> str:
    if not names:
        return "nothing"
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
