"""The refusal of an answer that would be useless: its figures, and what would help."""

from nowiser.errors import Advice, Useless
from nowiser.report.levers import Case, Lever, levers, people_needed
from nowiser.report.usefulness import Usefulness

ANYWAY = "Nothing was charged; anyway=True asks all the same."


def useless(found: Usefulness, case: Case) -> Useless:
    """The refusal. What would help is worked out when somebody looks at it."""
    return Useless(
        f"This answer would not be worth its price: {found}",
        figures=[f.to_json() for f in found.figures],
        advice=lambda: advice(case),
    )


def advice(case: Case) -> Advice:
    if case.wish.error is not None:
        return Advice(f"A smaller error= makes it useful, and explain says what that costs.\n{ANYWAY}")
    if case.now is not None and any(f.kind == "part" for f in case.now.figures):
        return Advice(f"Multiply by 1.0 first, as in 1.0 * COUNT(*) FILTER (WHERE x = 1) / COUNT(*).\n{ANYWAY}")
    found, needed, attacker = levers(case), people_needed(case), case.binding
    lines = []
    if attacker is not None:
        lines.append(
            f"The attacker who binds: `{attacker.text}`, at most {float(attacker.gain) * 100:g} points better."
        )
    if needed is not None:
        lines.append(f"It would be useful from about {needed:,} such rows on.")
    lines += _listed("More precise", [lever for lever in found if lever.who == "analyst"])
    lines += _listed("The custodian could change the policy", [lever for lever in found if lever.who == "custodian"])
    if not found:
        lines.append("No other spend, and no change of the policy that we know of, makes it useful.")
    return Advice(
        "\n".join([*lines, ANYWAY]),
        None if attacker is None else attacker.text,
        tuple(lever.to_json() for lever in found),
    )


def _listed(title: str, found: list[Lever]) -> list[str]:
    return (
        [f"{title}:", *(f"  {lever}{'' if lever.useful else ' (still useless)'}" for lever in found)] if found else []
    )
