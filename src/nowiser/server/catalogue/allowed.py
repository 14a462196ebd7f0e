"""Functions that a statement of the catalogue may call. Whatever is not here is not called."""

import re
from importlib.resources import files

from sqlglot import exp

# Functions of DuckDB itself that do no harm: nothing here reads a file, a setting, or repeats a text
PLAIN = frozenset(
    (
        "abs", "array_agg", "avg", "bool_and", "bool_or", "ceil", "coalesce", "concat", "count", "dense_rank", "floor",
        "generate_series", "greatest", "json_object", "least", "left", "length", "lower", "ltrim", "max", "min", "mod",
        "nullif", "position", "rank", "regexp_full_match", "regexp_matches", "regexp_replace", "right", "round",
        "row_number", "rtrim", "split_part", "starts_with", "string_agg", "strpos", "substr", "substring", "sum",
        "to_timestamp", "trim", "unnest", "upper", "now", "list_contains", "list_position", "date_part", "date_trunc",
        "lag", "lead", "first_value", "last_value", "array_cat", "array_append", "list_concat",
    )
)  # fmt: skip
_MACRO = re.compile(r"^CREATE MACRO (\w+)\(", re.MULTILINE)
MACROS = frozenset(_MACRO.findall((files(__package__) / "macros.sql").read_text(encoding="utf-8")))
# The parser's own functions, by class
NODES = (
    exp.Abs, exp.ArrayAgg, exp.Avg, exp.LogicalAnd, exp.LogicalOr, exp.Ceil, exp.Coalesce, exp.Concat, exp.Count,
    exp.Floor, exp.GenerateSeries, exp.Greatest, exp.Least, exp.Left, exp.Length, exp.Lower, exp.Max, exp.Min, exp.Mod,
    exp.Nullif, exp.StrPosition, exp.RegexpReplace, exp.RegexpLike, exp.RegexpILike, exp.Right, exp.Round,
    exp.RowNumber, exp.SplitPart, exp.StartsWith, exp.GroupConcat, exp.Substring, exp.Sum, exp.Trim, exp.Unnest,
    exp.Upper, exp.Cast, exp.Case, exp.If, exp.Array, exp.Exists, exp.Any, exp.All, exp.And, exp.Or, exp.Lag, exp.Lead,
    exp.ArrayToString, exp.StringToArray, exp.CurrentTimestamp, exp.CurrentDate, exp.Extract, exp.TimestampTrunc,
    exp.Explode, exp.ExplodingGenerateSeries, exp.GroupingSets, exp.JSONObject, exp.Rank, exp.DenseRank, exp.FirstValue,
    exp.LastValue,
)  # fmt: skip


def unknown(tree: exp.Expr) -> str | None:
    """The name of the first function that may not be called."""
    for node in tree.find_all(exp.Func):
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in MACROS | PLAIN:
                return node.name.lower()
        elif not isinstance(node, NODES):
            return node.sql_names()[0].lower()
    return None
