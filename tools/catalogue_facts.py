"""Writes what every database of PostgreSQL has (its own tables, types, settings) for `nowiser.server.catalogue`.

    python tools/catalogue_facts.py "postgresql://postgres@/postgres?host=…"     an empty database of PostgreSQL 16

Nothing of that server's place, owner or load is kept.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import psycopg

FACTS = Path(__file__).parents[1] / "src/nowiser/server/catalogue/facts"
FUNCTIONS = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze", "typsubscript")
# ruff: noqa: E501 (statements stand on one line)
WHICH = {
    "pg_namespace": "SELECT oid, nspname, nspowner, replace(nspacl::text, 'postgres', 'nowiser') AS nspacl FROM pg_namespace WHERE nspname !~ '^pg_t.*temp' ORDER BY oid",
    "pg_class": "SELECT oid, relname, relnamespace, reltype, relam, reltoastrelid, relhasindex, relisshared, relkind,"
    " relnatts, relhasrules, replace(relacl::text, 'postgres', 'nowiser') AS relacl FROM pg_class WHERE oid < 16384 ORDER BY oid",
    "pg_attribute": "SELECT attrelid, attnum, attname, atttypid, atttypmod, attndims, attnotnull, attcollation"
    " FROM pg_attribute WHERE attrelid < 16384 AND attnum > 0 ORDER BY attrelid, attnum",
    "pg_type": "SELECT oid, typname, typnamespace, typlen, typbyval, typtype, typcategory, typispreferred, typdelim,"
    " typrelid, {}, typelem, typarray, typalign, typstorage, typnotnull, typbasetype, typtypmod, typndims,"
    " typcollation FROM pg_type WHERE oid < 16384 ORDER BY oid",
    "pg_proc": "SELECT oid, proname, pronamespace, prolang, prokind, prorettype, pronargs, '{' ||"
    " array_to_string(proargtypes::oid[], ',') || '}' AS proargtypes FROM pg_proc WHERE oid IN ({}) ORDER BY oid",
    "pg_am": "SELECT oid, amname, amhandler::oid, amtype FROM pg_am ORDER BY oid",
    "pg_language": "SELECT oid, lanname, lanispl, lanpltrusted FROM pg_language ORDER BY oid",
    "pg_collation": "SELECT oid, collname, collnamespace, collprovider, collisdeterministic, collencoding, collcollate,"
    " collctype FROM pg_collation WHERE collname IN ('default', 'C', 'POSIX', 'ucs_basic') ORDER BY oid",
    "pg_index": "SELECT indexrelid, indrelid, indnatts, indnkeyatts, indisunique, indisprimary,"
    " (string_to_array(indkey::text, ' '))::text AS indkey, (string_to_array(indclass::text, ' '))::text AS indclass"
    " FROM pg_index WHERE indexrelid < 16384 ORDER BY indexrelid",
    "pg_opclass": "SELECT oid, opcmethod, opcname, opcnamespace, opcfamily, opcintype, opcdefault, opckeytype"
    " FROM pg_opclass ORDER BY oid",
    "pg_cast": "SELECT oid, castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast ORDER BY oid",
    "pg_range": "SELECT rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc FROM pg_range ORDER BY rngtypid",
    "pg_settings": "SELECT name, CASE WHEN setting ~ '/' OR category ~ 'Locations|Preset' OR context = 'internal'"
    " THEN boot_val ELSE setting END AS setting, unit, category, context, vartype, min_val, max_val, boot_val"
    " FROM pg_settings ORDER BY name",
    "pg_description": "SELECT objoid, classoid, description FROM pg_description WHERE classoid IN ('pg_namespace'::"
    "regclass, 'pg_am'::regclass, 'pg_language'::regclass) ORDER BY 2, 1",
    "pg_authid": "SELECT oid, replace(rolname, 'postgres', 'nowiser') AS rolname, rolsuper, rolinherit, rolcreaterole,"
    " rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit FROM pg_authid WHERE oid < 16384 ORDER BY oid",
    "pg_constraint": "SELECT oid, conname, connamespace, contype, conrelid, conindid, conkey::text AS conkey"
    " FROM pg_constraint WHERE oid < 16384 AND contype IN ('p', 'u') ORDER BY oid",
    "keywords": "SELECT word, catcode, barelabel FROM pg_get_keywords() ORDER BY word",
    "formats": "SELECT oid, format_type(oid, NULL) AS written FROM pg_type WHERE oid < 16384 AND typrelid = 0 ORDER BY oid",
}


def main(url: str) -> None:
    functions = " UNION ".join(f"SELECT {f}::oid FROM pg_type" for f in FUNCTIONS)  # noqa: S608
    fill = {
        "pg_type": ", ".join(f"{f}::oid" for f in FUNCTIONS),
        "pg_proc": f"{functions} UNION SELECT amhandler::oid FROM pg_am UNION SELECT castfunc FROM pg_cast",  # noqa: S608
    }
    with psycopg.connect(url) as server:
        for name, query in WHICH.items():
            found = server.execute(query.replace("{}", fill.get(name, "")))
            assert found.description is not None
            with (FACTS / f"{name}.csv").open("w", newline="") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(c.name for c in found.description)
                out.writerows(map(_written, found))


def _written(row: tuple[Any, ...]) -> list[Any]:
    """NULL as nothing, truth values as one letter, lists as DuckDB reads them."""
    cells = [{True: "t", False: "f"}.get(v, v) if isinstance(v, bool) else v for v in row]
    return [f"[{c[1:-1]}]" if isinstance(c, str) and c[:1] == "{" else "" if c is None else c for c in cells]


if __name__ == "__main__":
    main(sys.argv[1])
