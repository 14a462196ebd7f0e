"""Priors as compact text on the command line, and back to errors that name the form.

    uniform:12:28                 every value from 12 to 28 equally likely
    normal:20:5                   mean 20, standard deviation 5; normal:20:5:0:60 cut off to [0, 60]
    lognormal:3:0.5               of the logarithm; likewise with a range
    atoms:0=.2,2=.8               single numbers with their probability
    histogram:0,10,20:.3,.7       edges, then the probability of each bin
    categories:soup=.3,pasta=.7   labels; without numbers (soup,pasta) equally likely
    present:.5                    whether the person is in the table
    census.csv:age                the values of a column (csv, tsv, parquet)
    scipy:gamma:2:scale=3         any distribution of scipy.stats
    unknown, unknown:0:60         nothing is known: the worst prior counts
    .3*atoms:0=1+.7*lognormal:3:1 a mixture: 30 % have 0, the others something

`time=normal:20:5` names the attribute, for goals on several attributes.
"""

import re
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured

# a prior that begins with its weight, or with a * before which one is missing; and where the next part begins
MIXED = re.compile(r"\s*[-+]?[\d.]*(?:e[-+]?\d+)?\s*%?\s*\*", re.IGNORECASE)
BETWEEN = re.compile(r"\+(?=\s*[-+]?(?:e[-+]\d|[^:=+*])*\*|\s*$)", re.IGNORECASE)
UNWEIGHTED = re.compile(r"\+\s*[a-z]\w*(?=:|$)", re.IGNORECASE)

FORMS = (
    "uniform:low:high, normal:mean:sd[:low:high], lognormal:mean:sd[:low:high], atoms:v=p,…, histogram:edges:masses, "
    "categories:a=p,b=p, present:p, file.csv:column, scipy:name:…, unknown[:low:high], weight*prior+weight*prior"
)


def named_prior(text: str) -> tuple[str | None, Any]:
    """`time=normal:20:5` → ("time", Normal(20, 5)); without a name the first part is None."""
    head = text.partition(":")[0]
    if "=" in head:
        name, _, rest = text.partition("=")
        if not name.strip():
            raise Misconfigured(f"--prior {text!r}: the name before = is empty", hint=f"Forms: {FORMS}")
        return name.strip(), prior(rest)
    return None, prior(text)


def prior(text: str) -> Any:
    """The prior a text describes, or Misconfigured naming the option, the form and what was found."""
    try:
        return _prior(text)
    except Misconfigured as refused:
        if refused.message.startswith("--prior"):
            raise
        raise Misconfigured(f"--prior {text!r}: {refused.message}", hint=refused.hint) from None


def _prior(text: str) -> Any:
    from nowiser.model import prior as priors

    if MIXED.match(text):
        return priors.Mixture([_weighed(text, part) for part in BETWEEN.split(text)])
    kind, _, rest = text.partition(":")
    parts = rest.split(":") if rest else []
    match kind.strip().lower():
        case "uniform":
            low, high = _numbers(text, parts, 2, "uniform:low:high")
            return priors.Uniform(low, high)
        case "normal" | "lognormal":
            return _bell(text, kind.strip().lower(), parts)
        case "atoms":
            return priors.Atoms({_number(text, v): m for v, m in _shares(text, rest, "atoms:0=.2,2=.8").items()})
        case "categories":
            return _categories(text, rest)
        case "histogram":
            if len(parts) != 2:
                raise _wrong(text, "histogram:0,10,20:.3,.7 (edges, then masses)")
            edges, masses = ([_number(text, v) for v in p.split(",")] for p in parts)
            if len(edges) != len(masses) + 1:
                raise Misconfigured(
                    f"a mass is needed for each bin; found bins: {len(edges) - 1}, masses: {len(masses)}"
                )
            return priors.Histogram(edges, masses)
        case "present":
            (probability,) = _numbers(text, parts, 1, "present:probability")
            return priors.Presence(probability)
        case "unknown":
            if not parts:
                return priors.Unknown()
            low, high = _numbers(text, parts, 2, "unknown or unknown:low:high")
            return priors.Unknown(low, high)
        case "scipy":
            return _scipy(text, parts)
        case _:
            return _from_file(text)


def _weighed(text: str, part: str) -> tuple[float, Any]:
    """One part of a mixture; whatever is missing is named in the whole text."""
    weight, star, whole = (piece.strip() for piece in part.partition("*"))
    if not whole:
        missing = (
            f"a prior must stand after {weight + star!r}" if star else "a weight and a prior must stand after the +"
        )
        raise Misconfigured(f"--prior {text!r}: {missing}")
    bare = UNWEIGHTED.search(whole)
    if not weight or bare:
        behind = whole[bare.start() + 1 :].strip() if bare else whole
        raise Misconfigured(f"--prior {text!r}: a weight and * must stand before {behind!r}, as in .3*{behind}")
    share = _number(text, weight)
    if not 0 <= share <= 1:
        raise Misconfigured(f"--prior {text!r}: a weight must be between 0 and 1; found {weight!r}")
    return share, prior(whole)


def joint(path: Path) -> Any:
    """Whole records of a file, each as likely as it is frequent."""
    from collections import Counter

    from nowiser.model.prior import JointAtoms
    from nowiser.model.priors.file import read_columns

    try:
        table = read_columns(path)
    except Misconfigured as refused:
        raise Misconfigured(f"--joint {str(path)!r}: {refused.message}", hint=refused.hint) from None
    rows = Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))
    total = sum(rows.values())
    return JointAtoms(table.column_names, {row: n / total for row, n in rows.items()})


def check_numbers(option: str, path: Path, column: str) -> None:
    """Misconfigured, naming the row, where a column holds something else than numbers."""
    from nowiser.model.priors.file import first_without_number

    found = first_without_number(path, column)
    if found is not None:
        row, cell = found
        raise Misconfigured(
            f"{option}: column {column!r} of {path.name} holds no number in row {row}, but {cell!r}",
            hint="The goal `within` needs numbers; ask `exactly` or `in` about labels.",
        )


def _bell(text: str, kind: str, parts: list[str]) -> Any:
    from nowiser.model import prior as priors

    if len(parts) not in (2, 4):
        raise _wrong(text, f"{kind}:mean:sd or {kind}:mean:sd:low:high")
    values = [_number(text, p) for p in parts]
    family = priors.Normal if kind == "normal" else priors.LogNormal
    whole = family(values[0], values[1])
    return whole if len(parts) == 2 else priors.Truncated(whole, values[2], values[3])


def _categories(text: str, rest: str) -> Any:
    from nowiser.model.prior import Categories

    if rest and "=" not in rest:
        return Categories([label.strip() for label in rest.split(",")])
    return Categories(_shares(text, rest, "categories:soup=.3,pasta=.7"))


def _scipy(text: str, parts: list[str]) -> Any:
    from nowiser.model.prior import Frozen

    if not parts:
        raise _wrong(text, "scipy:name:argument:name=argument")
    plain = [_number(text, p) for p in parts[1:] if "=" not in p]
    named = dict(p.split("=", 1) for p in parts[1:] if "=" in p)
    return Frozen(parts[0], *plain, **{k: _number(text, v) for k, v in named.items()})


def _from_file(text: str) -> Any:
    from nowiser.model.prior import Empirical

    file = file_of(text)
    if file is None:
        raise Misconfigured(f"--prior {text!r} is none of the known forms", hint=f"Forms: {FORMS}")
    return Empirical.read(*file)


def file_of(text: str) -> tuple[Path, str] | None:
    """`file.csv:column`, taken apart."""
    from nowiser.files.unreadable import PARQUET
    from nowiser.model.priors.file import TEXTS

    path, _, column = text.rpartition(":")
    return (Path(path), column) if Path(path).suffix.lower() in (*TEXTS, *PARQUET) and column else None


def _shares(text: str, rest: str, form: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for piece in rest.split(","):
        label, equals, share = piece.rpartition("=")
        if not equals or not label.strip():
            raise _wrong(text, form)
        if label.strip() in found:
            raise Misconfigured(f"--prior {text!r} names {label.strip()!r} twice")
        found[label.strip()] = _number(text, share)
    return found


def _numbers(text: str, parts: list[str], count: int, form: str) -> list[float]:
    if len(parts) != count:
        raise _wrong(text, form)
    return [_number(text, p) for p in parts]


def _number(text: str, piece: str) -> float:
    written = piece.strip()
    try:
        return float(written[:-1]) / 100 if written.endswith("%") else float(written)
    except ValueError:
        raise Misconfigured(f"--prior {text!r}: a number must stand where {piece!r} stands") from None


def _wrong(text: str, form: str) -> Misconfigured:
    return Misconfigured(f"--prior must look like {form}; found {text!r}")
