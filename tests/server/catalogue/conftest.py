"""The hospital under nowiser, and the same tables in a real PostgreSQL 16: the oracle of the catalogue."""

from fractions import Fraction

import psycopg
import pytest

from nowiser.examples import hospital
from nowiser.server.catalogue import Catalogue
from nowiser.server.catalogue.declared import shapes
from nowiser.server.desk import Desk
from nowiser.server.people.account import Role
from nowiser.server.settings import Settings

WRITTEN = {20: "bigint", 701: "double precision", 25: "text", 16: "boolean", 1082: "date", 1114: "timestamp"}


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    hospital.write(folder)
    desk = Desk(Settings(policy=folder / "nowiser.yaml", port=0, pg_port=0, at_least=0.0))
    desk.register.add("ana", Role.analyst, by="test", per_day=Fraction(1))
    desk.register.add("bob", Role.analyst, by="test", per_day=Fraction(1))
    desk.register.add("odo", Role.auditor, by="test")
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def ana(served):
    return served.seat(served.register.find("ana"))


@pytest.fixture(scope="session")
def catalogue(served):
    return Catalogue(served)


@pytest.fixture(scope="module")  # it renames the role that others know
def oracle(postgres_server, served):
    """URL of a real server's database with the same tables, as ana; what she may do is as in nowiser."""
    root = postgres_server.format(database="postgres")
    with psycopg.connect(root, autocommit=True) as server:
        if server.info.server_version < 160000:
            pytest.skip("the oracle is PostgreSQL 16")
        server.execute("CREATE ROLE helper SUPERUSER LOGIN")
        server.execute("CREATE ROLE ana LOGIN")
    with psycopg.connect(root.replace("postgres@", "helper@"), autocommit=True) as server:
        server.execute("ALTER ROLE postgres RENAME TO nowiser")
        server.execute("CREATE DATABASE nowiser OWNER nowiser")
        server.execute("ALTER SYSTEM SET log_statement = 'all'")
        server.execute("ALTER SYSTEM SET log_line_prefix = '%u|%a|'")
        server.execute("SELECT pg_reload_conf()")
    url = postgres_server.format(database="nowiser")
    with psycopg.connect(url.replace("postgres@", "nowiser@"), autocommit=True) as server:
        server.execute("DROP ROLE helper")
        server.execute("CREATE SCHEMA nowiser")
        server.execute("GRANT USAGE ON SCHEMA nowiser TO PUBLIC")
        _tables(server, shapes(served.gate.policy))
    yield url.replace("postgres@", "ana@")
    with psycopg.connect(root.replace("postgres@", "nowiser@"), autocommit=True) as server:  # as others expect it
        server.execute("CREATE ROLE helper SUPERUSER LOGIN")
        server.execute("DROP DATABASE nowiser WITH (FORCE)")
        server.execute("ALTER SYSTEM RESET ALL")
    with psycopg.connect(root.replace("postgres@", "helper@"), autocommit=True) as server:
        server.execute("ALTER ROLE nowiser RENAME TO postgres")
        server.execute("DROP ROLE ana")
    with psycopg.connect(root, autocommit=True) as server:
        server.execute("DROP ROLE helper")


def _tables(server, every):
    def name(*parts):
        return psycopg.sql.Identifier(*parts).as_string(server)

    def listed(columns):
        return ", ".join(map(name, columns))

    for shape in every:
        table = name("public" if shape.schema == 2200 else "nowiser", shape.name)
        columns = ", ".join(f"{name(n)} {WRITTEN[t]}{' NOT NULL' if sure else ''}" for n, t, sure, _ in shape.columns)
        server.execute(f"CREATE TABLE {table} ({columns})")
        server.execute(f"GRANT SELECT ON {table} TO PUBLIC")
        for key in shape.keys:
            kind = "PRIMARY KEY" if key == shape.primary else "UNIQUE"
            server.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name(shape.named(key))} {kind} ({listed(key)})")
        if shape.comment:
            server.execute(f"COMMENT ON TABLE {table} IS {psycopg.sql.quote(shape.comment)}")
        for column, _, _, comment in shape.columns:
            if comment:
                server.execute(f"COMMENT ON COLUMN {table}.{name(column)} IS {psycopg.sql.quote(comment)}")
    for shape in every:
        for columns, target, referenced in shape.links:
            if any(o.name == target and referenced in o.keys for o in every):
                server.execute(
                    f"ALTER TABLE {name('public', shape.name)} ADD CONSTRAINT {name(shape.name + '_' + '_'.join(columns) + '_fkey')}"
                    f" FOREIGN KEY ({listed(columns)}) REFERENCES {name('public', target)} ({listed(referenced)})"
                )
