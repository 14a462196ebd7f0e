"""Columns of which a release shows nothing any more: one value, `*`, in every row."""

from nowiser.microdata.method_contract import Run
from nowiser.microdata.table.micro_table import MicroTable


def says_nothing(table: MicroTable, run: Run) -> bool:
    """Whether every quasi-identifier has one value in all rows, where the original has several."""
    return bool(_gone(table, run)) and all(table[q].distinct < 2 for q in run.roles.quasi if q in table)


def emptied(table: MicroTable, run: Run) -> str:
    """What is said about them to whoever publishes; nothing where every column says something."""
    gone = _gone(table, run)
    if says_nothing(table, run):
        return (
            "Every quasi-identifier is * in every released row: nothing is left of them. Allow some suppression, "
            "weaken a model, or release fewer of them."
        )
    if not gone:
        return ""
    said = f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} * in every released row."
    if run.suppress:
        return f"{said} More suppression, a weaker model or fewer quasi-identifiers may leave something of it."
    return f"{said} A few rare rows may be the reason: allow some suppression, for example 1%."


def _gone(table: MicroTable, run: Run) -> list[str]:
    """The quasi-identifiers that have one value in all released rows, and several in the original."""
    return [q for q in run.roles.quasi if q in table and table[q].distinct < 2 and run.original[q].distinct > 1]
