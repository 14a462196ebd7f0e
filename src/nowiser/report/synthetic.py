"""Synthetic rows in words: what they cost every attacker, what they were made from, how far off they may be."""

from collections.abc import Mapping
from html import escape
from typing import Any

from nowiser.percent import percent
from nowiser.report.compare import NOBODY, html


class Said:
    """What is shown of a release where somebody looks at it: its words."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0]}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints on a terminal."""
        printer.text(repr(self) if cycle else str(self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def words(made: Mapping[str, Any]) -> str:
    """What is printed when rows were made."""
    columns = f"{len(made['columns'])} columns, method {made['method']}"
    lines = [f"{made['rows']:,} rows of nobody, like those of {made['table']}: {columns}."]
    lines += [guess_line(g) for g in made["guesses"]]
    lines.append(
        f"Charged: ρ = {made['rho']:.4g}, {percent(made['spent'])} of the allowance; {percent(made['left'])} is left."
    )
    pairs = [c for c in made["counted"] if len(c) > 1]
    if pairs:
        shown = ", ".join(" × ".join(c) for c in pairs[:6])
        lines.append(f"Counted together: {shown}{f' and {len(pairs) - 6} more' if len(pairs) > 6 else ''}.")
    if "compared" in made:
        lines += compared(made["compared"])
    if made["files"]:
        lines.append(f"Written: {', '.join(made['files'])}")
    return "\n".join(lines)


def several_words(made: Mapping[str, Any]) -> str:
    """What is printed when tables that belong together were made."""
    tables = ", ".join(f"{t['rows']:,} of {name}" for name, t in made["tables"].items())
    lines = [f"Rows of nobody that fit together: {tables}; method {made['method']}."]
    lines += [guess_line(g) for g in made["guesses"]]
    lines.append(
        f"Charged: ρ = {made['rho']:.4g}, {percent(made['spent'])} of the allowance; {percent(made['left'])} is left."
    )
    for name, sets in made["counted"].items():
        shown = ", ".join(" × ".join(c) for c in sets[:4])
        lines.append(f"Counted together in {name}: {shown}{f' and {len(sets) - 4} more' if len(sets) > 4 else ''}.")
    if made["files"]:
        lines.append(f"Written: {', '.join(made['files'])}")
    return "\n".join(lines)


def compared(found: Mapping[str, Any]) -> list[str]:
    """How the rows stand beside the real ones, for the custodian."""
    single, pairs = (list(found[what].values()) for what in ("marginals", "pairs"))
    lines = ["Beside the real rows (for the custodian alone):"]
    if single:
        lines.append(
            f"  shares of single columns are off by {sum(single) / len(single):.3f} (0 exact, 1 nothing alike)"
        )
    if pairs:
        lines.append(f"  shares of pairs by {sum(pairs) / len(pairs):.3f}")
    if (tried := found["classifier"]) is not None:
        lines.append(
            f"  a classifier of {tried['case']} trained on them: AUC {tried['released']:.3f} on real rows; "
            f"trained on real rows {tried['original']:.3f}"
        )
    if (best := found["strongest"]) is not None:
        lines.append(
            f"  who guesses {best['goal']} by them is right in {percent(best['after'])}, without them in "
            f"{percent(best['before'])}"
        )
    return lines


def page(made: Mapping[str, Any], compared_with: Mapping[str, Any]) -> str:
    """Rows of nobody held against the real ones, as HTML for the custodian."""
    charged = f"ρ = {made['rho']:.4g}, {percent(made['spent'])} of the allowance"
    pairs = ", ".join(" × ".join(c) for c in made["counted"] if len(c) > 1)
    said = [
        "For the custodian alone: this page was made from real rows, and nothing was paid for it.",
        f"Whoever gets the rows (method {made['method']}; charged: {charged}) guesses right in at most so many cases:",
        *(guess_line(g).strip() for g in made["guesses"]),
        *([f"Counted together: {pairs}. All else is as the model infers it."] if pairs else []),
    ]
    heading = f"Synthetic rows of {made['table']}"
    return html({**compared_with, "alignment": NOBODY}, whole_page=True, heading=heading, said=said)


def guess_line(guess: Mapping[str, Any]) -> str:
    how = ", on average" if guess["promise"] == "on average" else ""
    return (
        f"  {guess['guess']}{how}: {percent(guess['before'])} → at most {percent(guess['after'])} "
        f"(limit {percent(guess['limit'])})"
    )


def beforehand(guesses: Any, share: float, rho: float, expected: Any) -> str:
    """What is said before anything is charged."""
    lines = [f"This will cost {percent(share)} of the allowance (ρ = {rho:.4g}). Afterwards, answers so far included:"]
    lines += [guess_line(g.to_json()) for g in guesses]
    if expected.single is None:
        lines.append(
            f"Expected noise on a count of one column: about ± {2 * expected.deviation:,.0f} rows (95 %). How far off "
            "shares will be is not known: the policy does not say about how many `people` there are."
        )
    else:
        lines.append(
            f"Expected distance by noise alone: about {expected.single:.3f} for a single column, {expected.pair:.3f} "
            "for a pair (0 is exact, 1 is nothing in common)."
        )
    return "\n".join(lines)


def synopsis_words(made: Mapping[str, Any]) -> str:
    """What is printed when a synopsis was bought."""
    pairs = made["together"]
    shown = ", ".join(" × ".join(c) for c in pairs[:6])
    lines = [f"A synopsis of {made['table']}: {len(made['columns'])} columns, {len(pairs)} tables of counts."]
    lines += [guess_line(g) for g in made["guesses"]]
    lines.append(
        f"Charged: ρ = {made['rho']:.4g}, {percent(made['spent'])} of the allowance; {percent(made['left'])} is left."
    )
    lines.append(f"Counted together: {shown}{f' and {len(pairs) - 6} more' if len(pairs) > 6 else ''}.")
    lines.append(f"Noise on every count: ± {1.96 * made['deviation']:,.0f} rows or less (95 %).")
    if made["answers_from"] == "data":
        lines.append("Questions are answered from it, free, once the policy says: answers: {from: synopsis}, or best.")
    else:
        lines.append("Questions about these columns are now answered from it, free.")
    return "\n".join(lines)
