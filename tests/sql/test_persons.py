"""Whom rows belong to: links that lead nowhere are a fault, also where Python leaves out assertions."""

import pytest

from nowiser.errors import Fault
from nowiser.model.policy import Policy
from nowiser.model.schema import Link, Table
from nowiser.sql.bound.persons import home, root


def linked(name, to):
    return Table(name, name, (), link=None if to is None else Link(("id",), to, ("id",)), person=("id",) * (to is None))


def test_links_lead_to_the_persons():
    tables = linked("a", "b"), linked("b", "c"), linked("c", None)
    assert root(Policy(tables, (), {}), tables[0]).name == "c"


def test_links_in_a_circle_are_a_fault_and_no_endless_loop():
    tables = linked("a", "b"), linked("b", "a")
    with pytest.raises(Fault, match="links of the table a lead back to itself"):
        root(Policy(tables, (), {}), tables[0])


def test_links_to_nowhere_are_a_fault():
    policy = Policy((linked("a", "b"), linked("c", None)), (), {})
    for table in policy.tables:
        with pytest.raises(Fault, match=f"the table {table.name} is linked to no table of the policy"):
            home(policy, table)
