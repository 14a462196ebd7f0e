"""`nowiser explain`: what a question would cost and how precise it would be. Touches nothing secret."""

from nowiser.cli import output
from nowiser.cli.query import (
    Analyst,
    Json,
    PolicyFile,
    Spend,
    Sql,
    SqlFile,
    Wanted,
    ask_together,
    in_flags_of,
    question,
    questions_of,
)


def explain(
    sql: Sql = None,
    *,
    file: SqlFile = None,
    policy: PolicyFile = None,
    error: Wanted = None,
    spend: Spend = None,
    analyst: Analyst = None,
    as_json: Json = False,
) -> None:
    """What a question would cost and how precise it would be. Touches nothing secret, charges nothing.

    Example: nowiser explain "SELECT AVG(time) FROM visits WHERE faculty = 'math'"
    """
    from nowiser import gateway

    asked = question(sql, file)
    if len(several := questions_of(asked, file)) > 1:
        ask_together(several, policy, error=error, spend=spend, analyst=analyst, as_json=as_json, run=False)
        return
    with gateway.open(policy) as gate:
        answer = gate.explain(asked, error=error, spend=spend, analyst=analyst)
    answer = in_flags_of(answer)
    if as_json:
        output.emit(answer.to_dict())
        return
    from nowiser.report.printed import print_explanation

    print_explanation(answer)
