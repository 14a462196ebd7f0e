"""Why a function is refused, and what would be answered instead. Names as PostgreSQL spells them."""

_TEXTS = "It would show values of single rows."
_TELLS = "One row decides it, and noise cannot be added to yes or no."
_WHICH = "Databases mean different things by it."
_TIME = "Names of months and formats differ between engines."

# Questions about other rows, where they are refused
ASK_FIRST = (
    "Its exact result would be an answer without noise. Ask it on its own first and write the number. About rows of"
    " the same person: LEFT JOIN (SELECT key, COUNT(*) AS n FROM … GROUP BY key) AS s ON s.key = …, and use s.n."
)
# Windows
ROW_WINDOWS = (
    "Number the rows of each person in a sub-select: FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY person"
    " ORDER BY t) AS n FROM …) AS q WHERE n = 1."
)
NTILES = "PERCENTILE_CONT(x, 0.25), … for the borders, WIDTH_BUCKET(x, 0, 100, 4) for groups of equal width."
WINDOWS = {
    "ntile": NTILES,
    "rank": "ORDER BY COUNT(*) DESC LIMIT 10 gives the first groups in order.",
    "dense_rank": "ORDER BY COUNT(*) DESC LIMIT 10 gives the first groups in order.",
    "row_number": "ORDER BY COUNT(*) DESC LIMIT 10 gives the first groups in order.",
    "lag": "Ask for the groups in order; differences are computed from the answer, and that is free.",
    "lead": "Ask for the groups in order; differences are computed from the answer, and that is free.",
    "percentile_cont": "PERCENTILE_CONT(x, 0.5) without OVER; for each group, with GROUP BY.",
    "percentile_disc": "PERCENTILE_DISC(x, 0.5) without OVER; for each group, with GROUP BY.",
    "median": "MEDIAN(x) without OVER; for each group, with GROUP BY.",
    "count": "GROUP BY what is in PARTITION BY.",
    "sum": "GROUP BY what is in PARTITION BY; SUM(COUNT(*)) OVER (ORDER BY key) is answered.",
    "avg": "GROUP BY what is in PARTITION BY.",
    "min": "GROUP BY what is in PARTITION BY.",
    "max": "GROUP BY what is in PARTITION BY.",
}

# The parser's name → what the analyst wrote
SPELLED = {
    "group_concat": "string_agg",
    "logical_or": "bool_or",
    "logical_and": "bool_and",
    "time_to_str": "to_char",
    "str_to_date": "to_date",
    "str_to_time": "to_timestamp",
    "rand": "random",
    "approx_distinct": "approx_count_distinct",
    "j_s_o_n_array_agg": "json_agg",
}
REASONS: dict[str, tuple[str, str]] = {
    "string_agg": (_TEXTS, "Count rows per value with GROUP BY."),
    "array_agg": (_TEXTS, "Count rows per value with GROUP BY."),
    "json_agg": (_TEXTS, "Count rows per value with GROUP BY."),
    "bool_or": (_TELLS, "Use COUNT(*) FILTER (WHERE …)."),
    "bool_and": (_TELLS, "Use COUNT(*) FILTER (WHERE NOT …)."),
    "every": (_TELLS, "Use COUNT(*) FILTER (WHERE NOT …)."),
    "any_value": (_TEXTS, "Use MEDIAN, or GROUP BY."),
    "mode": ("It would show a value of a row.", "GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1"),
    "approx_count_distinct": ("Noise is added anyway.", "Use COUNT(DISTINCT x)."),
    "quantile": (_WHICH, "PERCENTILE_CONT(x, 0.5), or PERCENTILE_DISC(x, 0.5) for a value that occurs."),
    "approx_percentile": ("Noise is added anyway.", "PERCENTILE_CONT(x, 0.5)"),
    "approx_quantiles": ("Noise is added anyway.", "PERCENTILE_CONT(x, 0.25), PERCENTILE_CONT(x, 0.5), …"),
    "approx_quantile": ("Noise is added anyway.", "PERCENTILE_CONT(x, 0.5)"),
    "approxquantile": ("Noise is added anyway.", "PERCENTILE_CONT(x, 0.5)"),
    "percentile_approx": ("Noise is added anyway.", "PERCENTILE_CONT(x, 0.5)"),
    "percentile_cont": ("It takes a column and a share.", "PERCENTILE_CONT(x, 0.5)"),
    "percentile_disc": ("It takes a column and a share.", "PERCENTILE_DISC(x, 0.5)"),
    "std": (_WHICH, "STDDEV_SAMP(x) divides by n - 1, STDDEV_POP(x) by n."),
    "sd": (_WHICH, "STDDEV_SAMP(x) divides by n - 1, STDDEV_POP(x) by n."),
    "correl": ("SQL calls it otherwise.", "CORR(x, y)"),
    "all": ("It takes a SELECT.", "x <> ALL (1, 2) is x NOT IN (1, 2)."),
    "top": ("It stands once, after the first SELECT.", "Write ORDER BY … LIMIT 10 at the end."),
    "histogram": ("It would show values of single rows.", "SELECT FLOOR(x / 10), COUNT(*) FROM … GROUP BY 1"),
    "geomean": ("SQL calls it otherwise.", "EXP(AVG(LN(x)))"),
    "kurtosis": ("One row can decide it.", "VARIANCE, or PERCENTILE_CONT(x, 0.9)."),
    "skewness": ("One row can decide it.", "MEDIAN beside AVG, or PERCENTILE_CONT(x, 0.9)."),
    "first": (_TEXTS, "MIN, MAX, or ORDER BY … LIMIT 10 of groups."),
    "last": (_TEXTS, "MIN, MAX, or ORDER BY … LIMIT 10 of groups."),
    "strftime": (_TIME, "EXTRACT(YEAR FROM x), DATE_TRUNC('month', x), TO_CHAR(x, 'YYYY-MM')."),
    "date_format": (_TIME, "EXTRACT(YEAR FROM x), DATE_TRUNC('month', x), TO_CHAR(x, 'YYYY-MM')."),
    "regr_slope": ("It is a quotient of what is answered.", "COVAR_POP(x, y) / VAR_POP(x)"),
    "to_char": (_TIME, "Known: YYYY, YYYY-MM, YYYY-MM-DD, MM, DD. Otherwise use EXTRACT or DATE_TRUNC."),
    "to_date": (_TIME, "The custodian can declare the column as a date."),
    "to_timestamp": (_TIME, "The custodian can declare the column as a timestamp."),
    "age": ("The day of asking has no part in a question.", "Write EXTRACT(YEAR FROM AGE(DATE '2026-01-31', born))."),
    "random": ("The answer would be another one each time.", "Ask without it; the noise is added for you."),
    "regexp_replace": ("Engines disagree, and texts could grow.", "Use REPLACE with fixed texts, or ~ in a condition."),
    "regexp_matches": ("It gives several rows.", "Use ~ in a condition."),
    "md5": ("It hides nothing and only costs time.", "Compare the text itself."),
}
