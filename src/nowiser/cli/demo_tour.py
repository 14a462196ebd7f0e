"""A tour through the gateway on made-up tables: what `nowiser demo` shows after the story of one guess."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nowiser.cli.refusals import in_flags
from nowiser.errors import Exhausted, NotAnswerable
from nowiser.percent import percent


@dataclass(frozen=True)
class Stop:
    """One question of the tour: what to look at, the SQL, and how it is asked."""

    heading: str
    sql: str
    spend: str | None = None


CANTEEN = (
    Stop("Public columns are exact and free", "SELECT faculty, COUNT(*) FROM visits GROUP BY faculty"),
    Stop("An average, at the usual price", "SELECT faculty, AVG(time) FROM visits GROUP BY faculty"),
    Stop("The same again: the stored answer, free", "select FACULTY, avg(time) from visits group by 1"),
    Stop("A count with a secret condition, for more", "SELECT COUNT(*) FROM visits WHERE time > 20", "40%"),
    Stop("Single rows are never shown", "SELECT time FROM visits WHERE student = 's0001'"),
)
HOSPITAL = (
    Stop("Even who was there is secret: everything is noisy", "SELECT COUNT(*) FROM stays", "2%"),
    Stop("Stays and cost by diagnosis", "SELECT diagnosis, COUNT(*), AVG(cost) FROM stays GROUP BY diagnosis", "30%"),
    Stop(
        "A share, computed after the noise",
        "SELECT COUNT(*) FILTER (WHERE emergency) * 100.0 / COUNT(*) AS percent FROM stays",
        "10%",
    ),
    Stop("Public tables stay public", "SELECT building, SUM(beds) FROM wards GROUP BY building"),
    Stop("No error tells about a row: division by zero is NULL", "SELECT SUM(1 / (days - days)) FROM stays", "2%"),
)


def walk(example: str, folder: Path) -> dict[str, Any]:
    """Write the example's tables and policy into the folder and ask its questions."""
    from nowiser import gateway
    from nowiser.examples import canteen, hospital

    policy = (canteen if example == "canteen" else hospital).write(folder)
    stops = []
    with gateway.open(policy) as gate:
        for stop in CANTEEN if example == "canteen" else HOSPITAL:
            found: dict[str, Any] = {"heading": stop.heading, "sql": stop.sql}
            try:
                found["answer"] = gate.query(stop.sql, spend=stop.spend)
            except (NotAnswerable, Exhausted) as refusal:
                found["refused"] = refusal
            stops.append(found | {"standing": gate.allowance()})
    return {"example": example, "folder": str(folder), "stops": stops}


def picture(tour: dict[str, Any]) -> Any:
    """What was answered and what it did to the guesses, drawn."""
    from nowiser.report.charts.answers import answers

    shown = next(s["answer"] for s in tour["stops"] if "answer" in s and s["answer"].cost and len(s["answer"].rows) > 1)
    return answers(shown, [stop["standing"]["guesses"] for stop in tour["stops"]])


def plain(tour: dict[str, Any]) -> dict[str, Any]:
    """The tour as JSON."""

    def one(stop: dict[str, Any]) -> dict[str, Any]:
        said = {"answer": stop["answer"].to_dict()} if "answer" in stop else {"refused": stop["refused"].to_json()}
        return {"heading": stop["heading"], "sql": stop["sql"], "standing": stop["standing"]} | said

    return tour | {"stops": [one(s) for s in tour["stops"]]}


def show(tour: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from nowiser.model.advantage import points
    from nowiser.report.printed import table_of
    from nowiser.report.terminal import bar

    out = Console(highlight=False, markup=False, emoji=False)
    said: set[str] = set()
    for number, stop in enumerate(tour["stops"], 1):
        out.print(Text(f"\n{number}  {stop['heading']}", style="bold"))
        out.print(Text(f"   {stop['sql']}", style="cyan"), soft_wrap=True)
        answer = stop.get("answer")
        if answer is None:
            out.print(Padding(Text(f"refused: {stop['refused'].message}\n{stop['refused'].hint or ''}"), (1, 3)))
            continue
        out.print(Padding(table_of(answer), (1, 3)))
        for note in answer.news:
            if answer.cost and note not in said:
                out.print(Text(f"   Note: {in_flags(note)}", style="dim"), soft_wrap=True)
                said.add(note)
        left = stop["standing"]["left"]
        paid = "stored, free" if answer.stored else "free" if not answer.cost else "charged"
        out.print(Text(f"   {paid}; left of the allowance {bar(left, 20)} {percent(left, 0)}"))
    out.print(Text("\nWhat every attacker knows now, at most", style="bold"))
    for g in tour["stops"][-1]["standing"]["guesses"]:
        line = f"   {g['guess']}: {points(g['before'])} → {points(g['after'], up=True)} (limit {points(g['limit'])})"
        out.print(Text(line), soft_wrap=True)
    out.print(Text(f"\nPolicy, data and ledger are in {tour['folder']}. Ask on:", style="bold"))
    out.print(f"  nowiser ledger -p {tour['folder']}/nowiser.yaml", soft_wrap=True)
