"""A canteen served on the PostgreSQL wire."""

import pytest

from support.wire_served import serving


@pytest.fixture
def served(desk, tokens):
    with serving(desk, tokens) as found:
        yield found


@pytest.fixture
def connection(served):
    import psycopg

    with psycopg.connect(**served.given(), autocommit=True) as found:
        yield found
