"""What tables of the catalogue hold that neither the facts nor a policy say: usual values, settings, names."""

from typing import Any

from nowiser.server.catalogue import declared

SETTINGS = {"server_version": "16.0", "server_version_num": "160000", "default_transaction_read_only": "on",
            "transaction_read_only": "on", "search_path": "public", "TimeZone": "UTC", "max_identifier_length": "63",
            "is_superuser": "off", "session_authorization": None, "ssl": "on", "lc_collate": "C",
            "lc_ctype": "C"}  # fmt: skip
_ALL_VISIBLE = ("relhasindex", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity")
# What columns hold that no row names
USUAL: dict[str, dict[str, Any]] = {
    "pg_class": {
        "relowner": 10, "relpersistence": "p", "relispopulated": True, "reltuples": -1.0, "relreplident": "n",
        "reloftype": 0, "reltablespace": 0, "relpages": 0, "relallvisible": 0, "reltoastrelid": 0, "relchecks": 0,
        "relrewrite": 0, "relisshared": False, "relforcerowsecurity": False, "relispartition": False, "relfilenode": 0,
        **dict.fromkeys(_ALL_VISIBLE, False),
    },
    "pg_attribute": {
        "attcacheoff": -1, "atttypmod": -1, "attndims": 0, "attcompression": "", "atthasdef": False,
        "atthasmissing": False, "attidentity": "", "attgenerated": "", "attisdropped": False, "attislocal": True,
        "attinhcount": 0, "attstattarget": -1,
    },
    "pg_type": {
        "typowner": 10, "typisdefined": True, "typbyval": False, "typispreferred": False, "typrelid": 0, "typelem": 0,
        "typarray": 0, "typnotnull": False, "typbasetype": 0, "typtypmod": -1, "typndims": 0, "typcollation": 0,
        "typmodin": 0, "typmodout": 0, "typanalyze": 0, "typsubscript": 0,
    },
    "pg_index": {
        "indisunique": False, "indnullsnotdistinct": False, "indisexclusion": False, "indimmediate": True,
        "indisclustered": False, "indisvalid": True, "indcheckxmin": False, "indisready": True, "indislive": True,
        "indisreplident": False,
    },
    "pg_constraint": {
        "condeferrable": False, "condeferred": False, "convalidated": True, "contypid": 0, "conparentid": 0,
        "confrelid": 0, "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": True,
        "coninhcount": 0, "connoinherit": True,
    },
    "pg_proc": {
        "proowner": 10, "procost": 1.0, "prorows": 0.0, "provariadic": 0, "prosupport": 0, "prosecdef": False,
        "proleakproof": False, "proisstrict": True, "proretset": False, "provolatile": "i", "proparallel": "s",
        "pronargdefaults": 0,
    },
    "pg_language": {"lanowner": 10, "lanplcallfoid": 0, "laninline": 0, "lanvalidator": 0},
    "pg_collation": {"collowner": 10},
    "pg_opclass": {"opcowner": 10},
    "pg_range": {"rngcanonical": 0, "rngsubdiff": 0},
    "pg_description": {"objsubid": 0},
    "pg_settings": {"source": "default", "pending_restart": False},
}  # fmt: skip
EXTRA = {
    "keywords": "word VARCHAR, catcode VARCHAR, barelabel BOOLEAN",
    "formats": "oid UINTEGER, written VARCHAR",
    "constraint_text": "oid UINTEGER, written VARCHAR",
    "index_text": "oid UINTEGER, written VARCHAR",
}
SYSTEM_COLUMNS = (
    (-1, "ctid", 27),
    (-2, "xmin", 28),
    (-3, "cmin", 29),
    (-4, "xmax", 28),
    (-5, "cmax", 29),
    (-6, "tableoid", 26),
)


INFORMATION = "12404"
ME = (
    "CREATE VIEW pg_authid AS SELECT * REPLACE (CASE WHEN oid = 16384 THEN getvariable('me') ELSE rolname END"
    " AS rolname) FROM every_role"
)
FACTS = (
    "pg_namespace", "pg_class", "pg_attribute", "pg_type", "pg_proc", "pg_am", "pg_language", "pg_collation",
    "pg_index", "pg_opclass", "pg_cast", "pg_range", "pg_settings", "pg_description", "pg_authid", "pg_constraint",
)  # fmt: skip
DATABASE_ROW = {
    "oid": declared.DATABASE, "datname": "nowiser", "datdba": 10, "encoding": 6, "datlocprovider": "c",
    "datistemplate": False, "datallowconn": True, "datconnlimit": -1, "dattablespace": 1663, "datcollate": "C",
    "datctype": "C", "datfrozenxid": 722, "datminmxid": 1,
}  # fmt: skip
