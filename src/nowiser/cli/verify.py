"""`nowiser verify`: prove that a mechanism is private, refute it, or say which line stopped the proof."""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured

REJECTED = 1


def verify(  # noqa: PLR0917 (typer passes options by name)
    program: Annotated[str, typer.Argument(help="program.py, or program.py:function.")] = "",
    private: Annotated[str | None, typer.Option(help="The private argument. Default: the first.")] = None,
    neighbours: Annotated[
        str | None,
        typer.Option(help="one (the default), one by 2, one arbitrary, all, all by 1/2, length.", metavar="TEXT"),
    ] = None,
    eps: Annotated[str | None, typer.Option(help="The claim: eps, 2*eps, 0.5, ln(3).")] = None,
    rho: Annotated[str | None, typer.Option(help="A claim of concentrated privacy instead, as in 0.5.")] = None,
    delta: Annotated[str | None, typer.Option(help="With --eps: the δ of the claim, as in 1e-6.")] = None,
    public: Annotated[list[str] | None, typer.Option(help="A number for a public argument, as in N=2.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Private values are whole numbers.")] = False,
    sizes: Annotated[int | None, typer.Option(help="Lists of up to so many elements. Default: up to 6.")] = None,
    seconds: Annotated[float, typer.Option(help="Stop after so long, and say what was reached.")] = 60.0,
    certificate: Annotated[Path | None, typer.Option(help="Write the proof here, as JSON.")] = None,
    check: Annotated[
        Path | None, typer.Option(help="Check this certificate against the program and the options given.")
    ] = None,
    audit: Annotated[str | None, typer.Option(help="module:function: look at a black box instead.")] = None,
    inputs: Annotated[str | None, typer.Option(help="With --audit: two neighbours as JSON, as in [10, 11].")] = None,
    samples: Annotated[int, typer.Option(help="With --audit: at most so many runs on each input.")] = 100_000,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: file.svg, .png, .html or .pdf.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Prove that a mechanism is private, refute it, or say which line stopped the proof.

    Exit code 0: proved; 1: refuted; 2: unknown. With --check: 0 accepted, 1 rejected.

    Example: nowiser verify program.py --private d --neighbours one --eps eps
    """
    if plot is not None:
        from nowiser.report.save import checked

        checked(plot)
    if audit is not None:
        _audit(audit, inputs, eps, rho, _delta(delta) or 0.0, samples, seconds, plot, as_json=as_json)
        return
    if not program:
        raise Misconfigured("say which program", hint="nowiser verify program.py --private d --neighbours one")
    path, text, function = _program(program)
    if check is not None:
        stated: dict[str, Any] = {
            "private": private,
            "neighbours": neighbours,
            "epsilon": eps,
            "rho": rho,
            "delta": _delta(delta),
        }
        stated |= {"public": _numbers(public) if public else None, "whole": True if whole else None}
        _check(check, text, function, stated, as_json=as_json)
        return
    from nowiser.verify.verdict import Proved
    from nowiser.verify.verify import verify as verified

    verdict = verified(
        text,
        private,
        neighbours or "one",
        eps,
        rho=rho,
        delta=_delta(delta) or 0.0,
        public=_numbers(public or []),
        function=function,
        whole=True if whole else None,
        sizes=sizes,
        seconds=seconds,
    )
    if certificate is not None and isinstance(verdict, Proved):
        certificate.write_text(json.dumps(verdict.certificate, indent=1) + "\n", encoding="utf-8")
    drawn = None if plot is None else _draw(verdict, plot)
    if as_json:
        found = verdict.to_json() | {"program": str(path)}
        if certificate is not None and isinstance(verdict, Proved):
            found["certificate"] = str(certificate)
        output.emit(found | ({"plot": str(drawn)} if drawn else {}))
    else:
        typer.echo(str(verdict))
    raise typer.Exit(verdict.exit_code)


def _program(given: str) -> tuple[Path, str, str | None]:
    """`program.py:function` as the file, its text and the function."""
    name, colon, function = given.rpartition(":")
    path = Path(name if colon and not Path(given).exists() else given)
    try:
        return path, path.read_text(encoding="utf-8"), function if path == Path(name) and colon else None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Misconfigured(f"{path} is not text in UTF-8") from None


def _numbers(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise Misconfigured(f"--public {text}: write name=number, as in N=2")
        found[name.strip()] = value.strip()
    return found


def _delta(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise Misconfigured(f"--delta must be a number, not {text!r}") from None


def _check(path: Path, program: str, function: str | None, stated: dict[str, Any], *, as_json: bool) -> None:
    from nowiser.verify.check.certificate import check
    from nowiser.verify.check.follow import Rejected
    from nowiser.verify.language.read import read
    from nowiser.verify.question import difference

    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} is no certificate: {error}") from None
    try:
        said = check(given, program)
    except Rejected as no:
        _rejected(str(no), as_json=as_json)
    theirs = given["question"]["function"]
    other = "function" if function not in {None, theirs} else difference(given, read(program, theirs), stated)
    if other:
        _rejected(f"it answers another question ({other}). It shows: {said}", as_json=as_json)
    if as_json:
        output.emit({"accepted": True, "proves": said})
    else:
        typer.echo(f"Accepted: {said}.")


def _rejected(reason: str, *, as_json: bool) -> NoReturn:
    if as_json:
        output.emit({"accepted": False, "reason": reason})
    else:
        typer.echo(f"Rejected: {reason}.")
    raise typer.Exit(REJECTED)


def _audit(  # noqa: PLR0917 (the options that concern audits)
    target: str,
    inputs: str | None,
    eps: str | None,
    rho: str | None,
    delta: float,
    samples: int,
    seconds: float,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    import sys

    from nowiser.verify.auditor import audit

    module, colon, name = target.partition(":")
    if not colon:
        raise Misconfigured(f"--audit: write module:function, not {target!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        mechanism = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise Misconfigured(f"--audit {target}: {error}") from None
    try:
        first, second = json.loads(inputs or "")
    except (ValueError, TypeError):
        raise Misconfigured("--inputs must be a list of two neighbours in JSON", hint="--inputs '[10, 11]'") from None
    try:
        epsilon, wanted = (None if v is None else float(v) for v in (eps, rho))
    except ValueError:
        raise Misconfigured("an audit's claim is a number, as in --eps 1") from None
    found = audit(mechanism, first, second, epsilon=epsilon, rho=wanted, delta=delta, samples=samples, seconds=seconds)
    if plot is not None:
        from nowiser.report.save import save

        save(found.chart(), plot)
    if as_json:
        output.emit(found.to_json())
    else:
        typer.echo(str(found))
    raise typer.Exit(1 if found.refuted else 2)


def _draw(verdict: Any, plot: Path) -> Path:
    from nowiser.report.save import save
    from nowiser.verify.picture import chart

    drawn = chart(verdict)
    if drawn is None:
        raise Misconfigured("there is nothing to draw: the verdict is one number")
    return save(drawn, plot)
