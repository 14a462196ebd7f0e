"""`%nowiser` and `%%nowiser`: questions in a notebook without any Python around them.

%load_ext nowiser
%nowiser hospital/nowiser.yaml                 choose the policy; without this, $NOWISER_POLICY or ./nowiser.yaml
%nowiser                                       its tables, and what is left
mean = %nowiser SELECT AVG(time) FROM visits   a question on one line

%%nowiser --spend 5% result <<                 a question of several lines; the answer goes into `result`
SELECT faculty, AVG(time)
FROM visits GROUP BY faculty

Options: -p or --policy FILE, --spend SHARE, --error NUMBER, --analyst NAME, --explain, --clipped, --yes (ask also
where the answer would be useless).
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nowiser import gateway
from nowiser.errors import Misconfigured

VALUED = {"-p": "policy", "--policy": "policy", "--spend": "spend", "--error": "error", "--analyst": "analyst"}
FLAGS = {"--explain": "explain", "--clipped": "clipped", "--yes": "yes"}
_WORD = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)""")
_INTO = re.compile(r"\s*(\S+)\s*<<\s*(.*)", re.DOTALL)
USAGE = "As in: %%nowiser --spend 5% result <<"


@dataclass(frozen=True)
class Line:
    """What stands behind `%nowiser`, understood."""

    options: dict[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    into: str | None = None  # the variable that takes the answer
    rest: str = ""  # the question, or a policy


def understood(line: str) -> Line:
    """Options first, then perhaps `name <<`; the rest is taken as it is, so that SQL keeps its quotes."""
    options: dict[str, str] = {}
    flags: set[str] = set()
    rest = line.strip()
    while rest.startswith("-") and not rest.startswith("-- "):  # which begins a comment of SQL
        word, rest = _first(rest)
        name, equals, value = word.partition("=")
        if name in FLAGS and not equals:
            flags.add(FLAGS[name])
        elif name in VALUED:
            if not equals:
                value, rest = _first(rest)
            options[VALUED[name]] = _value(name, value)
        else:
            known = ", ".join([*VALUED, *FLAGS])
            raise Misconfigured(f"%nowiser knows no option {word}", hint=f"Options: {known}. {USAGE}")
        rest = rest.strip()
    into = None
    if found := _INTO.fullmatch(rest):
        into, rest = found[1], found[2].strip()
        if not into.isidentifier():
            raise Misconfigured(f"{into!r} is no name of a variable", hint=USAGE)
    return Line(options, frozenset(flags), into, rest)


def _first(text: str) -> tuple[str, str]:
    found = _WORD.match(text)
    return (found[1], text[found.end() :]) if found else ("", "")


def _value(name: str, value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if not value:
        raise Misconfigured(f"{name} needs a value", hint=USAGE)
    return value


class Magic:
    """Open gateways by policy file, and the one that was chosen last."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._gates: dict[Path, gateway.Gateway] = {}
        self._chosen: Path | None = None

    def __call__(self, line: str, cell: str | None = None) -> Any:
        """Ask the question, choose a policy, or show what may be asked.

        %nowiser [options] [name <<] [SQL, or a policy file]
        """
        asked = understood(line)
        if "policy" in asked.options:
            self._choose(asked.options["policy"])
        sql = asked.rest if cell is None else "\n".join(part for part in (asked.rest, cell) if part.strip())
        if cell is None and sql.endswith((".yaml", ".yml")):
            self._choose(sql)
            sql = ""
        found = self._asked(sql, asked) if sql.strip() else self._gate()
        if asked.into is None:
            return found
        self._shell.user_ns[asked.into] = found
        return None

    def _asked(self, sql: str, line: Line) -> Any:
        wish: dict[str, Any] = {name: line.options[name] for name in ("spend", "analyst") if name in line.options}
        if "error" in line.options:
            wish["error"] = _number(line.options["error"])
        gate = self._gate()
        if "explain" in line.flags:
            return gate.explain(sql, **wish)
        return gate.query(sql, **wish, clipped="clipped" in line.flags, anyway="yes" in line.flags)

    def _choose(self, path: str) -> None:
        """Open a policy anew: it may have changed since."""
        chosen = Path(path).expanduser().resolve()
        opened = gateway.open(chosen)
        if (old := self._gates.pop(chosen, None)) is not None:
            old.close()
        self._gates[chosen], self._chosen = opened, chosen

    def _gate(self) -> gateway.Gateway:
        if self._chosen is None:
            self._choose(os.environ.get("NOWISER_POLICY") or "nowiser.yaml")
        assert self._chosen is not None
        return self._gates[self._chosen]

    def close(self) -> None:
        for gate in self._gates.values():
            gate.close()
        self._gates, self._chosen = {}, None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Misconfigured(f"--error must be a number, found {text!r}", hint="As in: %%nowiser --error 1.5") from None


def load(shell: Any) -> None:
    """Register the magic. The text behind it is SQL, so IPython puts no variables into it."""
    magic = Magic(shell)

    def nowiser(line: str, cell: str | None = None) -> Any:
        return magic(line, cell)

    nowiser.__doc__ = __doc__
    nowiser._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]  # noqa: SLF001 (as IPython's decorator does)
    nowiser.close = magic.close  # type: ignore[attr-defined]
    shell.register_magic_function(nowiser, magic_kind="line_cell", magic_name="nowiser")


def unload(shell: Any) -> None:
    """Close the gateways and take the magic away."""
    for kind in ("line", "cell"):
        registered = shell.magics_manager.magics[kind].pop("nowiser", None)
        if registered is not None:
            registered.close()
