"""What the plan calls a whole number is one in DuckDB too: `//` of a real would be another division."""

import pytest

from nowiser.engines.duckdb.dialect import DIALECT, TYPES
from nowiser.engines.render import expression
from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED
from nowiser.sql.tree import columns
from sql.test_total import calls

duckdb = pytest.importorskip("duckdb")

KINDS = {kind: {name} for kind, name in TYPES.items()}
KINDS[Kind.INTEGER] |= {"INTEGER", "SMALLINT", "TINYINT"}


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_results_have_the_type_that_is_planned(connection, name):
    for tree in calls(name):
        given = [f'CAST(NULL AS {TYPES[c.type.kind]}) AS "{c.declared.name}"' for c in columns(tree)]
        sql = f"SELECT typeof({expression(tree, DIALECT)}) FROM (SELECT {', '.join(given or ['1 AS x'])}) AS t0"
        (found,) = connection.execute(sql).fetchone()
        assert found in KINDS[tree.type.kind], sql
