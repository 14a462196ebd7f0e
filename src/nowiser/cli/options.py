"""Commands whose options are taken as they were written.

typer has pydantic check every option of a command, given or not, and importing pydantic takes as long as the rest of a
short answer. Most of our options are text, which needs no checking, so only what is given and is not text goes there.
Flags are shown as they are written, too: with nothing behind them.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup


class _AsWritten:
    """Stands where typer keeps the check of an option (`_runtime_param`); a typer that keeps it elsewhere is as slow
    as before.
    """

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        annotation = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if annotation is str and type(value) is str:
            return value
        if annotation == list[str] and isinstance(value, (list, tuple)) and all(type(v) is str for v in value):
            return list(value)
        param._runtime_param = None  # noqa: SLF001 (typer then builds its own check)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _unchecked(params: list[Any]) -> None:
    for param in params:
        if getattr(param, "_runtime_param", param) is None:
            param._runtime_param = _AsWritten  # noqa: SLF001 (typer has no public place for it)
        if getattr(param, "is_flag", False):
            param.metavar = ""  # the help of typer says `--json <bool>`, though nothing may follow


class Command(TyperCommand):
    """A command whose text options are not checked."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _unchecked(self.get_params(ctx))  # with --help
        return super().parse_args(ctx, args)


class Group(TyperGroup):
    """The same for the options before the command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _unchecked(self.get_params(ctx))  # with --help
        return super().parse_args(ctx, args)
