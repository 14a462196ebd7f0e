"""`nowiser learn`: a model fitted on a policy's table, paid from its account."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.publish import progress
from nowiser.errors import Misconfigured

if TYPE_CHECKING:
    from nowiser.learn.learn import Wanted

MODELS = {
    "boosting": "Boosting",
    "logistic": "LogisticRegression",
    "linear": "LinearRegression",
    "tree": "DecisionTree",
    "forest": "RandomForest",
    "bayes": "NaiveBayes",
    "network": "Network",
    "kmeans": "KMeans",
    "pca": "PCA",
    "standardise": "Standardise",
    "quantiles": "QuantileBins",
}


def learn(  # noqa: PLR0917 (typer passes options by name)
    table: Annotated[str, typer.Argument(help="A table of the policy.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    features: Annotated[str, typer.Option(help="Columns to learn from: column, …; else all others.")] = "",
    model: Annotated[str, typer.Option(help=f"One of {', '.join(MODELS)}.")] = "boosting",
    setting: Annotated[list[str] | None, typer.Option("--set", help="A setting of it, as in depth=3; repeat.")] = None,
    spend: Annotated[str | None, typer.Option(help="Share of the allowance to use, as in 20%.")] = None,
    policy: Annotated[
        Path | None, typer.Option("-p", "--policy", help="The policy; else $NOWISER_POLICY, else nowiser.yaml.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write the model, as JSON.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Whose share of the allowance pays.")] = None,
    *,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it would cost and how well it may do.")] = False,
    force: Annotated[bool, typer.Option(help="Overwrite a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Fit a model on a table of the policy, charge its account, and write the model with its card.

    Example: nowiser learn stays --target diagnosis --features ward,days --spend 20% -o model.json
    """
    from nowiser.cli.column_list import split_columns
    from nowiser.learn.learn import fit, plan
    from nowiser.policy import read

    if out is None and not dry:
        raise Misconfigured("say where to write the model, with -o", hint="--dry spends nothing and writes nothing.")
    if out is not None:
        _check_place(out, force=force)
    wanted = plan(
        read(policy or Path(os.environ.get("NOWISER_POLICY") or "nowiser.yaml")),
        table,
        target=target,
        features=list(split_columns(features, "--features")) or None,
        model=_model(model, setting or []),
        spend=spend,
        analyst=analyst,
    )
    if dry:
        output.emit(wanted.to_json()) if as_json else output.say(str(wanted))
        return
    if not as_json and sys.stderr.isatty():
        output.say(_before(wanted), err=True)
    with progress(quiet=as_json) as bar:
        fitted = fit(wanted, heard=bar)
    assert out is not None
    from nowiser.files.writing import writing

    with writing(out):
        out.write_text(fitted.to_json() + "\n", encoding="utf-8")
    if as_json:
        output.emit({**fitted.card_.to_json(), "file": str(out)})
        return
    output.say(str(fitted.card_))
    output.say(f"Written to {out}. Read it with nw.learn.from_json.")


def _before(wanted: "Wanted") -> str:
    """What is expected, said before anything is spent."""
    from nowiser.learn.card import expected_words

    return "\n".join(expected_words(wanted.expected))


def _check_place(out: Path, *, force: bool) -> None:
    """Before anything is charged: a model that cannot be written would have been paid in vain."""
    if out.exists() and not force:
        raise Misconfigured(f"{out} is there already", hint="Name another file, or overwrite it with --force.")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise Misconfigured(f"{out} cannot be written: its folder is not there, or not ours to write in")


def _model(name: str, settings: list[str]) -> Any:
    import nowiser.learn as models

    if name not in MODELS:
        raise Misconfigured(f"--model must be one of {', '.join(MODELS)}, found {name!r}")
    made = getattr(models, MODELS[name])()
    own = {k: v for k, v in made.get_params().items() if isinstance(v, int | float) and k != "rows_per_person"}
    for entry in settings:
        key, equals, value = entry.partition("=")
        if not equals or key not in own:
            raise Misconfigured(f"--set {entry!r} is no setting of {name}", hint=f"There are {', '.join(own)}.")
        try:
            made.set_params(**{key: type(own[key])(value)})
        except ValueError:
            raise Misconfigured(f"--set {key} must be a number like {own[key]}, found {value!r}") from None
    return made
