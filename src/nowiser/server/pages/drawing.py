"""Templates: where they are, what they may say, and how a page or a failure is drawn."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from nowiser.errors import NowiserError, Useless
from nowiser.report.document import html
from nowiser.report.useless import ANYWAY
from nowiser.server.http.sessions import csrf_token, current
from nowiser.server.pages import editor, words
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import Problem, problem_of

HERE = Path(__file__).parent
# address, name, who sees it
NAV = (
    ("/board", "Board", (Role.custodian, Role.auditor)),
    ("/ask", "Ask", (Role.analyst, Role.custodian)),
    ("/tables", "Tables", tuple(Role)),
    ("/limits", "Promises", tuple(Role)),
    ("/releases", "Releases", (Role.custodian, Role.auditor)),
    ("/accounts", "Accounts", (Role.custodian, Role.auditor)),
    ("/ledger", "Ledger", (Role.custodian, Role.auditor)),
    ("/report", "Report", (Role.custodian, Role.auditor)),
)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(words.FILTERS)
    made.globals.update(static=static_address, editor=editor)
    return made


def page(
    request: Request,
    name: str,
    *,
    status: int = 200,
    account: Account | None = None,
    csrf: str | None = None,
    **values: Any,
) -> HTMLResponse:
    """A template for whoever is logged in; `account` and `csrf` where that changed with this very request."""
    account = account or current(request)
    seen = [(address, title) for address, title, roles in NAV if account is not None and account.role in roles]
    text = fragment(
        name,
        account=account,
        csrf=csrf if csrf is not None else csrf_token(request),
        nav=seen,
        here=request.url.path,
        sign_on=request.app.state.provider is not None,
        **values,
    )
    return HTMLResponse(text, status_code=status)


def fragment(name: str, **values: Any) -> str:
    return _templates().get_template(name).render(values)


def error_page(request: Request, problem: Problem, error: NowiserError) -> Response:
    """A failure as a page; the log-in form where that is what is missing."""
    if problem.status == 401:
        path = request.url.path if request.method == "GET" else ""
        return page(request, "login.html", status=401, wrong=None, following=path, draft="", empty=False)
    return page(request, "problem.html", status=problem.status, problem=problem, failed=failed(error))


def failed(error: NowiserError) -> Mapping[str, Any]:
    """What a failure says, in parts that a template can lay out."""
    where = error.span.underlined() if error.span is not None else ""
    span = None if error.span is None else (error.span.start, error.span.end)
    return {
        "title": problem_of(error).title,
        "message": error.message,
        "where": where,
        "hint": (error.hint or "").removesuffix(ANYWAY).rstrip(),
        "span": span,
        "kind": problem_of(error).kind,
        "levers": _levers(error) if isinstance(error, Useless) else [],
    }


def _levers(error: Useless) -> list[dict[str, Any]]:
    """What would give narrower bars: in words, and as the price that a button asks for."""
    return [
        {
            "spend": lever["ask"].get("spend", "") if lever["ask"] else "",
            "what": lever["what"].replace("`", ""),
            "who": lever["who"],
            "error": lever["error"],
        }
        for lever in error.levers
    ]


# -- what does not change while the server runs ---------------------------------------------------------------------


@cache
def static(name: str) -> bytes | None:
    """A file of ours, the style sheet with the rules that paint charts in its colours; or a module of the editor."""
    if name not in {"style.css", "nowiser.js", "editor.js", "icon.svg"}:
        return editor.modules().get(name)
    content = (HERE / "static" / name).read_bytes()
    return content + html.painted().encode() if name == "style.css" else content


@cache
def static_address(name: str) -> str:
    content = static(name)
    assert content is not None
    return editor.address(name, content)
