"""The reference of the Python names: signatures, promises, members and errors, all read from the code."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import nowiser
from nowiser.errors import NowiserError

WIDTH = 84
# Sections in reading order: title, what stands above the names, the names. A name of no section comes last.
SECTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "Ask questions",
        (
            "How to use them: [Use notebooks and Python](../how-to/use-notebooks.md). Raised: `NotAnswerable`, "
            "`Useless`, `Exhausted`, `NotAuthorised`, `Misconfigured`, `Unreachable`, `NotEvaluated`, `LedgerBroken`; "
            "see [Errors](#errors)."
        ),
        "open Gateway Answer connect",
    ),
    (
        "Build questions",
        (
            "How to use them: [Build questions in Python](../how-to/build-questions-in-python.md); they begin with "
            "`gw.table`. Raised: `Misconfigured` for what cannot be built."
        ),
        "col desc count sum avg min max median quantile stddev variance",
    ),
    (
        "Compute a guess",
        "How to use them: [Guess](guess.md). Raised: `Misconfigured` for arguments that make no sense together.",
        "guess largest scale expected bounds knowing knowing_part Advantage Cost Attacker",
    ),
    (
        "Priors",
        "What an attacker believes before a release. Raised: `Misconfigured`, for example where shares are negative.",
        (
            "Uniform Normal LogNormal Frozen Atoms Histogram Empirical Categories Mixture Truncated Presence Unknown "
            "JointAtoms MultivariateNormal JointHistogram Prior"
        ),
    ),
    (
        "Goals",
        (
            "Which guesses count as correct. Goals are joined by `&`, `|` and `~`. Raised: `Misconfigured`; where a "
            "text is wrong, the message points at the character."
        ),
        "Within Exactly In Present On And Or Not parse_goal Goal",
    ),
    (
        "Release and judge tables",
        (
            "How to use them: [Publish](publish.md), [Risk](risk.md), [Utility](utility.md). Raised: `Misconfigured` "
            "(files, columns, options), `NotAnswerable` (no candidate keeps the promises)."
        ),
        "publish risk compare ru_map attack attacks",
    ),
    (
        "Noise",
        "How they work: [Noise](noise.md). Raised: `Misconfigured`.",
        "randomised_response noisy_max exponential",
    ),
    ("Charts", "Every chart is an Altair chart. Raised: `Misconfigured`.", "charts save"),
)
MEMBERS = {"Gateway", "Answer", "Advantage"}  # classes whose methods and properties are listed


def python_names() -> str:
    names = sorted(set(nowiser.__all__) - {"__version__"}, key=str.lower)
    errors = [n for n in names if isinstance(v := getattr(nowiser, n), type) and issubclass(v, NowiserError)]
    placed = {name for _, _, wanted in SECTIONS for name in wanted.split()}
    rest = [n for n in names if n not in placed and n not in errors]
    sections = [*SECTIONS, *([("Other names", "", " ".join(rest))] if rest else [])]
    lines = [
        "# Python names",
        "",
        (
            "`import nowiser as nw`. Names are imported when first used. This page is generated from the code; names "
            "that are not on it may change in any version."
        ),
    ]
    for title, words, wanted in sections:
        lines += ["", f"## {title}", *(["", words] if words else [])]
        for name in wanted.split():
            lines += ["", *entry(name)]
    return "\n".join([*lines, "", *error_section(errors)]) + "\n"


def entry(name: str) -> Iterator[str]:
    value = getattr(nowiser, name)
    if isinstance(value, ModuleType) and callable(value):  # the package `guess`, which can be called
        from nowiser.guess.ask import guess as value
    yield f"### `nw.{name}`"
    shown = signature(f"nw.{name}", value)
    if shown and name not in MEMBERS - {"Gateway"}:  # answers and advantages are given, not made
        yield from ("", "```py", shown, "```")
    said = docstring(name, value)
    if said:
        yield from ("", said)
    if isinstance(value, ModuleType):
        yield from ("", "| function | chart |", "|---|---|")
        yield from (f"| `nw.{name}.{n}` | {first(getattr(value, n))} |" for n in sorted(value.__all__))
    if name in MEMBERS:
        yield from members(value)


def members(owner: type) -> Iterator[str]:
    """Properties in a table, each method with its signature."""
    rooms = [c for c in owner.__mro__ if c is owner or c.__module__.startswith("nowiser.asking.")]
    shown = {n: v for c in rooms for n, v in vars(c).items() if not n.startswith("_")}
    properties = {n: v for n, v in shown.items() if isinstance(v, property) or hasattr(v, "func")}
    if any(map(first, properties.values())):
        yield from ("", "| property | meaning |", "|---|---|")
        yield from (f"| `{n}` | {first(v)} |" for n, v in properties.items() if first(v))
    for name, value in shown.items():
        if inspect.isfunction(value):
            yield from ("", f"#### `{owner.__name__}.{name}`", "", "```py", signature(name, value), "```")
            yield from ("", said) if (said := docstring(name, value)) else ()


def signature(name: str, value: Any, *, width: int = WIDTH) -> str:
    """As it is written in the source, with the names of types as they are written there."""
    if isinstance(value, type):
        node = tree(value)
        made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        if made:
            return spelled(name, made[0].args, None, width)
        bases = [tree(c) for c in reversed(value.__mro__) if dataclasses.is_dataclass(c)]
        fields = [n for base in bases for n in base.body if isinstance(n, ast.AnnAssign) and is_field(n)]
        return joined(name, [ast.unparse(n) for n in fields], "", width) if dataclasses.is_dataclass(value) else ""
    if not inspect.isfunction(value):
        return ""
    node = tree(value)
    return spelled(name, node.args, node.returns, width)


def tree(value: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def is_field(node: ast.AnnAssign) -> bool:
    return not ast.unparse(node.target).startswith("_") and not ast.unparse(node.annotation).startswith("ClassVar")


def spelled(name: str, given: ast.arguments, returns: ast.expr | None, width: int) -> str:
    parts: list[str] = []
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    parts += [one(a, d) for a, d in zip(positional, defaults, strict=True) if a.arg not in {"self", "cls"}]
    if given.vararg:
        parts.append("*" + ast.unparse(given.vararg))
    elif given.kwonlyargs:
        parts.append("*")
    parts += [one(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        parts.append("**" + ast.unparse(given.kwarg))
    back = f" -> {ast.unparse(returns)}" if returns is not None else ""
    return joined(name, [unquoted(p) for p in parts], unquoted(back), width)


def one(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def unquoted(part: str) -> str:
    """Without the quotes around a type that is named before it is defined."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", part)


def joined(name: str, parts: list[str], back: str, width: int) -> str:
    line = f"{name}({', '.join(parts)}){back}"
    if len(line) <= width:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){back}"])


def docstring(name: str, value: Any) -> str:
    said = inspect.getdoc(value) or ""
    if isinstance(value, type) and re.match(rf"{name}\(.*\)$", said, re.DOTALL):
        return ""  # what dataclasses write when nobody wrote anything
    if isinstance(value, type) and not (value.__doc__ or ""):
        return ""
    return "\n\n".join(paragraph(p) for p in said.split("\n\n"))


def paragraph(text: str) -> str:
    """As Markdown: sessions as code, `name: meaning` as a list, the rest as it stands."""
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{textwrap.dedent(text)}\n```"
    items = re.split(r"^(?=(?:[a-z_]+(?:, )?)+: |\* )", text, flags=re.MULTILINE)
    if len(items) == 1:
        return escaped(text)
    before, *rest = items
    lines = [escaped(re.sub(r"\s*\n\s*", " ", re.sub(r"^\* ", "", i)).strip()) for i in rest]
    named = [re.sub(r"^((?:[a-z_]+(?:, )?)+): ", lambda m: code(m[1]) + ": ", line) for line in lines]
    return "\n".join([*([escaped(before.strip()), ""] if before.strip() else []), *(f"- {line}" for line in named)])


def code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def escaped(text: str) -> str:
    """A star outside code is a star; shares as they are typed are code."""
    pieces = re.split(r"(`[^`]*`)", text)
    typed = re.compile(r"\b(\d+%)")
    return "".join(p if p.startswith("`") else typed.sub(r"`\1`", p.replace("*", "\\*")) for p in pieces)


def first(value: Any) -> str:
    """The first paragraph, in one cell of a table."""
    said = (inspect.getdoc(value) or "").split("\n\n")[0]
    return in_table(re.sub(r"\s+", " ", escaped(said)))


def in_table(text: str) -> str:
    return text.replace("|", "\\|")


def error_section(names: list[str]) -> list[str]:
    lines = [
        "## Errors",
        "",
        (
            "Every error has `message`, `hint` (what would be right, or None), `span` (where in the text, or None), "
            "`exit_code` and `to_json()`. No message contains a value from the data. `Refused`: the user can fix it. "
            "`Fault`: a bug of ours, or a broken engine or ledger."
        ),
        "",
        "| name | is a | exit code | meaning |",
        "|---|---|---|---|",
    ]
    for value in sorted((getattr(nowiser, n) for n in names), key=depth_first):
        parent = value.__mro__[1]
        code = str(value.exit_code) if "exit_code" in vars(value) and value is not NowiserError else ""
        above = "`Exception`" if parent is Exception else f"`nw.{parent.__name__}`"
        lines.append(f"| `nw.{value.__name__}` | {above} | {code} | {first(value)} |")
    return lines


def depth_first(error: type) -> tuple[tuple[bool, int, str], ...]:
    """Each error below its parent; siblings by exit code."""
    path = [c for c in reversed(error.__mro__) if issubclass(c, NowiserError)]
    return tuple((issubclass(c, nowiser.Fault), getattr(c, "exit_code", 0), c.__name__) for c in path)
