"""Types of PostgreSQL as types of DuckDB, and back."""

# Kinds of functions are numbers in tables and names in answers: the only columns of this type are theirs.
FUNCTION = "UBIGINT"
INT2VECTOR, OIDVECTOR, TEXT, NAME, CHAR, OID, REGPROC = 22, 30, 25, 19, 18, 26, 24

OF_POSTGRES = {
    16: "BOOLEAN", 20: "BIGINT", 21: "SMALLINT", 23: "INTEGER", 26: "UINTEGER", 28: "UINTEGER", 700: "FLOAT",
    701: "DOUBLE", 1700: "DOUBLE", 1082: "DATE", 1184: "TIMESTAMP", 1114: "TIMESTAMP", 2206: "UINTEGER", 24: FUNCTION,
    22: "SMALLINT[]", 30: "UINTEGER[]", 1005: "SMALLINT[]", 1007: "INTEGER[]", 1028: "UINTEGER[]", 1009: "VARCHAR[]",
    1003: "VARCHAR[]", 1002: "VARCHAR[]", 1034: "VARCHAR[]", 1000: "BOOLEAN[]", 1021: "FLOAT[]", 1022: "DOUBLE[]",
}  # fmt: skip
_OF_DUCKDB = {
    "BOOLEAN": 16, "TINYINT": 21, "SMALLINT": 21, "INTEGER": 23, "BIGINT": 20, "HUGEINT": 20, "UINTEGER": 26,
    "UBIGINT": 20, "FLOAT": 700, "DOUBLE": 701, "VARCHAR": 25, "DATE": 1082, "TIMESTAMP": 1114,
    "TIMESTAMP WITH TIME ZONE": 1184, "INTERVAL": 1186, "TIME": 1083,
    "BOOLEAN[]": 1000, "SMALLINT[]": 1005, "INTEGER[]": 1007, "BIGINT[]": 1016, "UINTEGER[]": 1028, "VARCHAR[]": 1009,
}  # fmt: skip
# Types that drivers ask further about; what they hold is text
SIMPLER = {1034: 1009, 1003: 1009, 1002: 1009, 194: TEXT, 2277: TEXT, 1033: TEXT}


def duckdb_type(oid: int) -> str:
    return OF_POSTGRES.get(oid, "VARCHAR")


def postgres_type(shown: str) -> int:
    """The type of a column of a result; text where there is nothing like it."""
    return 1700 if shown.startswith("DECIMAL") else _OF_DUCKDB.get(shown, TEXT)
