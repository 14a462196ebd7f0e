"""Pictures for a terminal: bars made of characters."""

from collections.abc import Sequence
from typing import Any

_EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 40


def bar(share: float, width: int = WIDTH) -> str:
    """A bar for a share between 0 and 1, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def panel(title: str, rows: Sequence[tuple[str, float, str, str]], below: Sequence[str]) -> Any:
    """A framed picture: (label, share, figure, colour) per row, sentences below."""
    from rich import box
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    for label, share, figure, colour in rows:
        grid.add_row(Text(label, style="bold"), Text(bar(share), style=colour), Text(figure))
    words = Table.grid(padding=(0, 1))
    for sentence in below:
        words.add_row("•", Text(sentence))
    return Panel(Group(grid, Text(), words), title=title, title_align="left", box=box.ROUNDED, padding=(1, 2), width=92)
