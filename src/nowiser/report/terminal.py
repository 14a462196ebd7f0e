"""Pictures for a terminal: bars made of characters."""

from collections.abc import Sequence
from typing import Any

_EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 40
_TIE = "\ue000"  # private, and as wide as a space: stands for one at which no line ends


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
        words.add_row("•", _unbroken(sentence))
    return Panel(Group(grid, Text(), words), title=title, title_align="left", box=box.ROUNDED, padding=(1, 2), width=92)


def _unbroken(sentence: str) -> Any:
    """A text that wraps at spaces, but for those before a percent sign (rich wraps at no-break spaces, too)."""
    from rich.text import Text

    class Sentence(Text):
        def wrap(self, *args: Any, **options: Any) -> Any:
            lines = Text(self.plain.replace(" %", f"{_TIE}%"), end=self.end).wrap(*args, **options)
            for line in lines:
                line.plain = line.plain.replace(_TIE, " ")
            return lines

    return Sentence(sentence)
