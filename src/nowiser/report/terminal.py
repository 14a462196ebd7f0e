"""Pictures for a terminal: bars made of characters."""

from collections.abc import Sequence
from typing import Any

_EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 40
FRAME = 6  # columns of a frame and of what keeps distance to it
_TIE = "\ue000"  # private, and as wide as a space: stands for one at which no line ends


def bar(share: float, width: int = WIDTH) -> str:
    """A bar for a share between 0 and 1, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


class Picture:
    """A framed picture: (label, share, figure, colour) per row, sentences below. As wide as it may be, up to 92."""

    def __init__(self, title: str, rows: Sequence[tuple[str, float, str, str]], below: Sequence[str]) -> None:
        self.title, self.rows, self.below = title, rows, below

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich import box
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        width = min(92, options.max_width)
        beside = max(len(label) for label, *_ in self.rows) + max(len(figure) for *_, figure, _ in self.rows) + 2
        grid = Table.grid(padding=(0, 1))
        for label, share, figure, colour in self.rows:
            drawn = bar(share, max(1, min(WIDTH, width - FRAME - beside)))
            grid.add_row(Text(label, style="bold"), Text(drawn, style=colour), Text(figure, no_wrap=True))
        words = Table.grid(padding=(0, 1))
        for sentence in self.below:
            words.add_row("•", unbroken(sentence))
        fits = len(self.title) + FRAME <= width  # else rich would cut it
        if not fits:
            yield Text(self.title, style="bold")
        title = self.title if fits else None
        inside = Group(grid, Text(), words)
        yield Panel(inside, title=title, title_align="left", box=box.ROUNDED, padding=(1, 2), width=width)


class Listing:
    """A table whose last column wraps; where there is no room for it, one paragraph for each row."""

    def __init__(
        self, title: str, names: Sequence[str], rows: Sequence[Sequence[str]], strong: int | None = None
    ) -> None:
        self.title, self.names, self.rows, self.strong = title, names, rows, strong

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich import box
        from rich.measure import Measurement
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE, title=self.title, title_justify="left")
        for name, cells in zip(self.names[:-1], zip(*self.rows, strict=True), strict=False):
            table.add_column(name, no_wrap=True, min_width=max(map(len, (name, *cells))))
        table.add_column(self.names[-1])
        for i, row in enumerate(self.rows):
            table.add_row(*map(unbroken, row), style="bold blue" if i == self.strong else None)
        if Measurement.get(console, options.update(max_width=1000), table).minimum <= options.max_width:
            yield table
            return
        yield Text(self.title, style="italic")
        paragraphs = Table.grid(padding=(0, 1))
        for row in self.rows:
            first, *others = (f"{name} {cell}" for name, cell in zip(self.names, row, strict=True))
            paragraphs.add_row("•", unbroken(f"{first}: {'; '.join(others)}"))
        yield paragraphs


def unbroken(sentence: str) -> Any:
    """A text that wraps at spaces, but for those of `± 5 %` (rich wraps at no-break spaces, too)."""
    from rich.text import Text

    class Sentence(Text):
        def wrap(self, *args: Any, **options: Any) -> Any:
            lines = self._tied().wrap(*args, **options)
            for line in lines:
                line.plain = line.plain.replace(_TIE, " ")
            return lines

        def __rich_measure__(self, console: Any, options: Any) -> Any:
            return self._tied().__rich_measure__(console, options)

        def _tied(self) -> Text:
            return Text(self.plain.replace(" %", f"{_TIE}%").replace("± ", f"±{_TIE}"), style=self.style, end=self.end)

    return Sentence(sentence)
