"""Answers and explanations on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from nowiser.percent import percent
from nowiser.report.answer import Answer, binding_first, remark, spoken_guess
from nowiser.report.shown import BOUNDED, bar_words, free_words, price_words
from nowiser.report.visible import on_one_line, visible


def table_of(answer: Answer) -> Table:
    """The rows, every number with its error bar."""
    table = Table(show_edge=False, pad_edge=False)
    for name in answer.columns:
        table.add_column(Text(on_one_line(name)), overflow="fold")
    for row in answer.cells():
        table.add_row(*(Text(on_one_line(cell)) for cell in row))
    return table


def print_answer(answer: Answer, console: Console | None = None) -> None:
    out = console or Console(highlight=False)
    out.print(table_of(answer))
    out.print()
    if answer.stored:
        out.print("The answer given before to this question, again, free.")
    elif not answer.cost:
        out.print(free_words(answer) if answer.follows else f"{free_words(answer)} Nothing secret was touched.")
    _account(answer, out, told=not answer.news)
    if answer.news and answer.cost:
        out.print(f"Note: ± is the 95 % error bar of the noise; {BOUNDED}.", style="dim", markup=False)
    for note in answer.news:
        out.print(f"Note: {visible(note)}", style="dim", markup=False)
    if len(answer.news) < len(answer.bounding):
        out.print("(Notes were said before; explain repeats them.)", style="dim")


def print_explanation(answer: Answer, console: Console | None = None) -> None:
    out = console or Console(highlight=False)
    nodes: list[Tree] = []
    for line in answer.notes:
        depth = (len(line) - len(line.lstrip())) // 2
        del nodes[depth:]
        nodes.append(nodes[-1].add(_plain(line.strip())) if nodes else Tree(_plain(line.strip())))
        if depth == 0:
            root = nodes[0]
    if answer.notes:
        out.print(root)
        out.print()
    if answer.useless is not None:
        out.print(f"Useless: {visible(str(answer.useless))}", markup=False)
        out.print()
    if not answer.admitted:
        out.print(f"Not admitted: {visible(answer.refusal or '')}", markup=False)
    if not answer.cost and not answer.follows:
        out.print(f"{free_words(answer)} Nothing secret would be touched.")
    else:
        known = ", ".join(f"{name} {words}" for name, words in bar_words(answer))
        out.print(f"Error bar (95 %): {visible(known)}", markup=False)
        out.print(f"Price: {price_words(answer)}", markup=False)
    for spent, names in _spent(answer).items():
        out.print(f"Costs {spent} of {', '.join(names)}", markup=False)
    _account(answer, out)
    for note in answer.bounding:
        out.print(f"Note: {visible(note)}", style="dim", markup=False)


def _spent(answer: Answer) -> dict[str, list[str]]:
    """What is spent, and of which attributes: most cost the same."""
    found: dict[str, list[str]] = {}
    for table, attributes in answer.cost.items():
        for attribute, cost in attributes.items():
            spent = [
                f"{k} {v:.4g}" + {"slope": f" per {cost['unit']:g}", "c": f" per {cost['unit']:g} squared"}.get(k, "")
                for k, v in cost.items()
                if k != "unit" and v >= 1e-6  # below that it is rounding
            ]
            found.setdefault(", ".join(spent), []).append(f"{table}.{attribute}")
    return found


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(visible(text))


def _account(answer: Answer, out: Console, *, told: bool = False) -> None:
    for g in binding_first(answer.guesses):
        out.print(spoken_guess(g), markup=False)
    out.print(f"Left of the allowance: {percent(answer.left)}")
    if answer.guesses and not told:
        out.print(remark(answer.guesses), style="dim", markup=False)
