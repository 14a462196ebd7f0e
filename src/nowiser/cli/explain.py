"""`nowiser explain`: what a question would cost and how precise it would be. Touches no data."""

from nowiser.cli import output
from nowiser.cli.query import Analyst, Json, PolicyFile, Spend, Sql, Wanted


def explain(
    sql: Sql,
    *,
    policy: PolicyFile = None,
    error: Wanted = None,
    spend: Spend = None,
    analyst: Analyst = None,
    as_json: Json = False,
) -> None:
    """What a question would cost and how precise it would be. Touches no data, charges nothing.

    Example: nowiser explain "SELECT AVG(time) FROM visits WHERE faculty = 'math'"
    """
    from nowiser import gateway

    with gateway.open(policy) as gate:
        answer = gate.explain(sql, error=error, spend=spend, analyst=analyst)
    if as_json:
        output.emit(answer.to_dict())
        return
    from nowiser.report.printed import print_explanation

    print_explanation(answer)
