"""A text is read once, unless a number of a public table stands in it."""

import pytest

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.policy import parse
from nowiser.sql.plan import cache
from nowiser.sql.read.expressions.constants import shown_as

POLICY = parse("""
nowiser: 1
tables:
  shops: {source: shops.csv, public: true, columns: {rent: {public: [0, 1000], kind: integer}}}
  people: {source: people.csv, person: id, columns: {id: identifier, spent: {sensitive: [0, 100], kind: integer}}}
attackers: [{guess: present in people, gain: 40%}]
""")
PLAIN = "SELECT COUNT(*) FROM people"
WITH_PUBLIC = "SELECT COUNT(*) FROM people WHERE spent > (SELECT COUNT(*) FROM shops)"


@pytest.fixture
def rents():
    return iter(range(10, 20))


@pytest.fixture
def reader(rents):
    return cache.QueryCache(POLICY, lambda _: shown_as(next(rents), Kind.INTEGER))


def test_what_depends_on_the_policy_alone_is_read_once(reader):
    assert reader.read(PLAIN) is reader.read(PLAIN)
    assert reader.read(PLAIN) == cache.read(PLAIN, POLICY)


def test_a_number_of_a_public_table_is_looked_up_every_time(reader):
    first, second = reader.read(WITH_PUBLIC), reader.read(WITH_PUBLIC)
    assert first != second
    assert "10" in str(first)
    assert "11" in str(second)


def test_a_refusal_is_a_refusal_again(reader):
    for _ in range(2):
        with pytest.raises(NotAnswerable):
            reader.read("SELECT spent FROM people")


def test_it_does_not_grow_without_end(reader):
    for i in range(cache.MOST + 10):
        reader.read(f"SELECT COUNT(*) AS a{i} FROM people")
    assert len(reader._known) <= cache.MOST
    assert reader.read("SELECT COUNT(*) AS a0 FROM people").outputs[0].name == "a0"
