"""The name that PostgreSQL gives to a column of a result."""

from sqlglot import exp

UNNAMED = "?column?"
_CALLED = {
    "arrayagg": "array_agg", "groupconcat": "string_agg", "currentuser": "current_user", "sessionuser": "session_user",
    "currentcatalog": "current_catalog", "currentdatabase": "current_database", "currentschema": "current_schema",
    "currentversion": "version", "rownumber": "row_number", "strposition": "position", "jsonbuildobject":
    "json_build_object", "arraytostring": "array_to_string", "stringtoarray": "string_to_array", "trim": "btrim",
    "arraylength": "array_length", "logicalor": "bool_or", "logicaland": "bool_and", "splitpart": "split_part",
    "regexpreplace": "regexp_replace", "currenttimestamp": "current_timestamp", "if": "case",
}  # fmt: skip
_TYPES = {
    "int": "int4", "integer": "int4", "bigint": "int8", "smallint": "int2", "boolean": "bool", "double": "float8",
    "double precision": "float8", "real": "float4", "decimal": "numeric", '"char"': "char", "char": "bpchar",
}  # fmt: skip


def named(node: exp.Expr) -> str:
    """What a column is called that has no alias."""
    match node:
        case exp.Column():
            return node.name
        case exp.Alias():
            return node.alias
        case exp.Paren() | exp.Window() | exp.Filter() | exp.WithinGroup() | exp.Bracket() | exp.Order():
            return named(node.this)
        case exp.Dot():
            right = node.expression
            return named(right) if isinstance(right, exp.Func) else right.name
        case exp.Cast():
            inner = node.this
            while isinstance(inner, exp.Cast | exp.Paren):
                inner = inner.this
            plain = UNNAMED if isinstance(inner, exp.Case) else named(inner)
            return plain if plain != UNNAMED else _type(node)
        case exp.Case():
            other = node.args.get("default")
            inner = UNNAMED if other is None else named(other)
            return inner if inner != UNNAMED else "case"
        case exp.Subquery():
            first = node.this.selects[0] if node.this.selects else None
            return UNNAMED if first is None else first.alias or named(first)
        case exp.Exists():
            return "exists"
        case exp.Array():
            return "array"
        case exp.Anonymous():
            return node.name.lower()
        case exp.Binary() | exp.Unary() | exp.Connector() | exp.Predicate():
            return UNNAMED
        case exp.Func():
            return _CALLED.get(node.key) or node.sql_names()[0].lower()
    return UNNAMED


def _type(node: exp.Cast) -> str:
    written = node.to.sql("postgres").lower().replace("pg_catalog.", "").removesuffix("[]")
    return _TYPES.get(written, written.strip('"'))
