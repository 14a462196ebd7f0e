"""How an answer and an explanation show themselves: as short text, and in a notebook."""

from html import escape

from nowiser.percent import percent
from nowiser.report.answer import Answer, bar_of, binding_first, drawn, points_used, rounded, spoken_guess
from nowiser.report.visible import on_one_line, visible

MOST = 20  # rows of an answer that are printed
MOST_DRAWN = 200  # in a notebook
BOUNDED = "limits on rows and ranges still apply"
ADVICE = ("average:", "count:", "sum:")  # how the lines of a derivation begin that say what would be useful


def text(answer: Answer) -> str:
    """The rows with their error bars, and what is left; or what an explanation says."""
    if answer.values is None:
        return _explanation(answer)
    rows = [answer.columns, *answer.cells()[:MOST]]
    rows = [tuple(map(on_one_line, row)) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(answer.columns))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = len(answer.rows or ()) - MOST
    if more > 0:
        lines.append(f"… {more:,} more rows")
    return "\n".join([*lines, _price_of(answer), *(f"Note: {visible(note)}" for note in answer.news)])


def html_of(answer: Answer) -> str:
    if answer.values is None:
        return _explanation_html(answer)
    head = "".join(f"<th>{escape(c)}</th>" for c in answer.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in answer.cells()[:MOST_DRAWN]
    )
    more = len(answer.rows or ()) - MOST_DRAWN
    if more > 0:
        body += f"<tr><td>… {more:,} more rows</td></tr>"
    account = drawn(answer.guesses, answer.left) if answer.cost else f"<p>{_price_of(answer)}</p>"
    notes = "".join(f"<p>Note: {escape(note)}</p>" for note in answer.news)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{account}{notes}"


def _price_of(answer: Answer) -> str:
    if answer.stored:
        return f"The stored answer, again, free; {percent(answer.left)} of the allowance is left."
    if not answer.cost:
        return free_words(answer)
    binds = binding_first(answer.guesses)[:1]
    used = "".join(f" {g['guess']}: {points_used(g)}." for g in binds)
    return f"± is the 95 % error bar; {percent(answer.left)} of the allowance is left.{used}"


def free_words(answer: Answer) -> str:
    """What is free is exact, unless it follows from noisy answers, or limits on rows or ranges have a part in it."""
    if answer.synopsis:
        return f"Free: {answer.synopsis}."
    if answer.follows:
        return "Follows from earlier answers: free."
    return f"Without noise and free; {BOUNDED}." if answer.bounding else "Exact and free."


# -- explanations ----------------------------------------------------------------------------------------------


def bar_words(answer: Answer) -> list[tuple[str, str]]:
    """For each column what is known of its error bar before any data is read."""
    found = []
    for i, (name, bar) in enumerate(zip(answer.columns, answer.error, strict=True)):
        kind = answer.kind_of(i)
        if bar == 0.0:
            found.append((name, "exact"))
        elif isinstance(bar, float):
            found.append((name, f"± {bar_of(bar, kind)}"))
        elif name in answer.expected:
            found.append((name, f"about ± {bar_of(answer.expected[name], kind)} {answer.expected_for}"))
        else:
            found.append((name, "depends on the rows" if not advice(answer) else "depends on the rows: see the advice"))
    return found


def price_words(answer: Answer) -> str:
    if answer.synopsis:
        return f"free: {answer.synopsis}"
    if not answer.cost:
        return "free: it follows from earlier answers" if answer.follows else "free: nothing secret would be touched"
    return f"{_price(answer.price)}{percent(answer.left)} {'would be' if answer.admitted else 'is'} left"


def _price(share: float | None) -> str:
    if share is None:
        return ""
    return f"{percent(share)} of the allowance; " if share <= 1 else f"{rounded(share)} times the whole allowance; "


def _derivation(answer: Answer) -> list[str]:
    return [line for line in answer.notes if line not in advice(answer)]


def advice(answer: Answer) -> list[str]:
    """The lines of a derivation that say what would be useful."""
    start = next((i for i, n in enumerate(answer.notes) if n.strip().startswith(ADVICE)), len(answer.notes))
    return list(answer.notes[start:])


def _explanation(answer: Answer) -> str:
    lines = [] if answer.admitted else [f"Not admitted: {visible(answer.refusal or '')}"]
    lines += [] if answer.useless is None else [f"Useless: {visible(str(answer.useless))}"]
    lines += ["Error bar (95 %)", *(f"  {on_one_line(name)}: {words}" for name, words in bar_words(answer))]
    if answer.cost:
        lines += ["Noise", *(f"  {visible(line)}" for line in _derivation(answer))]
    lines += [
        "Price",
        f"  {price_words(answer)}",
        *(f"  {visible(spoken_guess(g))}" for g in binding_first(answer.guesses)),
    ]
    if told := advice(answer):
        lines += ["Advice", *map(visible, told)]
    return "\n".join(lines)


def _explanation_html(answer: Answer) -> str:
    refused = "" if answer.admitted else f"<p><b>Not admitted:</b> {escape(answer.refusal or '')}</p>"
    refused += "" if answer.useless is None else f"<pre><b>Useless:</b> {escape(str(answer.useless))}</pre>"
    rows = "".join(f"<tr><td>{escape(n)}</td><td>{escape(w)}</td></tr>" for n, w in bar_words(answer))
    told = "".join(f"<li>{escape(line.strip())}</li>" for line in advice(answer))
    noise = escape("\n".join(_derivation(answer)))
    return (
        f"{refused}<table><thead><tr><th>column</th><th>error bar (95 %)</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<p><b>Price:</b> {escape(price_words(answer))}</p>"
        + (f"<p><b>Advice</b></p><ul>{told}</ul>" if told else "")
        + (f"<details><summary>Noise</summary><pre>{noise}</pre></details>" if noise else "")
        + drawn(answer.guesses, answer.left)
    )
