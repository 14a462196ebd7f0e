"""Within which groups of rows a step perturbs."""

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.table.arrays import Names, chosen
from nowiser.microdata.table.micro_table import MicroTable


def strata_of(table: MicroTable, roles: Roles, strata: Names | None) -> tuple[str, ...]:
    """The strata of a step: its own option, or else what the recipe declares. A table without rows is refused."""
    if not table.rows:
        raise Misconfigured("the table has no rows: there is nothing to perturb")
    if strata is None:
        return roles.strata
    return chosen(table, strata, what="strata") if strata else ()
