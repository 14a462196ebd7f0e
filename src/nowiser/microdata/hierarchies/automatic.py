"""The hierarchy a column gets where nobody names one: proposed as a short spec that can be read, edited and kept.

Dates become month, quarter, year; codes lose characters; numbers fall into nice intervals; of many categories the
rare ones become one. What has few values, or fits none of these, is itself or `*`.
"""

from nowiser.microdata.hierarchies import codes, dates, frequency, numbers
from nowiser.microdata.table.column import Column

AUTO, FLAT = "auto", "flat"
FEW = 5  # different values up to which nothing lies between a value and `*`


def proposed(column: Column) -> str:
    """The spec, as it stands on the command line or in a recipe."""
    if len(column.labels) <= FEW:
        return FLAT
    if dates.read(column.labels) is not None:
        return "dates"
    if (lengths := codes.proposed(column)) is not None:
        return ":".join(["prefix", *map(str, lengths)])
    if column.is_numeric:
        found = numbers.nice(column)
        return FLAT if found is None else found.text
    apart = frequency.proposed(column)
    return FLAT if apart is None else ":".join(["frequency", *map(str, apart)])
