"""The reference of the HTTP interface, read from its OpenAPI document."""

from collections.abc import Iterator
from typing import Any

from nowiser.server.http.app import described

HEAD = """# HTTP

`nowiser serve` answers programs under `/api/v1`. This page is made from the server's own OpenAPI document, which it
serves at `/api/v1/openapi.json`. From Python, `nw.connect("https://…", token="nw_…")` has the methods of a gateway.

**Who.** A program sends its token with every request: `Authorization: Bearer nw_…`. The pages log in and keep a cookie;
what they change carries the session's CSRF token in the header `x-csrf-token`, and comes from the server's own origin.

**What is sent** is JSON of at most 1 MB. Unknown keys are refused.

**The question is its identity.** The same question on the same data is answered again, free. Reload, double click and
retry cost nothing.

**Forms.** Answers come as JSON; with `Accept: text/csv` or `Accept: application/vnd.apache.arrow.stream` as a table
with a column `<column>_error`, the 95 % half-width, after each noisy one.

**Failures** are `application/problem+json`: `kind`, `title`, `status`, `detail`, `hint`, `where` (line, column, length
in the SQL), `exit` (the exit code of the command line), and for some `needed`, `left`, `ask`, `figures`, `levers`.
No value from the data is ever in them.

```console
$ python -c "from nowiser.examples import canteen; canteen.write('.')"
$ nowiser user add ana
ana is an analyst now. Token:
…
```

```text
$ curl -s https://nowiser.hospital.example/api/v1/query -H "Authorization: Bearer $TOKEN" \\
    -H "Content-Type: application/json" -d '{"sql": "SELECT AVG(time) FROM visits WHERE faculty = '\\''math'\\''"}'
```
"""

PROBLEMS_HEAD = "\n## Problems\n\n| kind | status | title |\n|---|---|---|\n"


def http_reference() -> str:
    document = described().openapi()
    shapes = document["components"]["schemas"]
    parts: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            parts.setdefault(about["tags"][0], []).append("\n".join(_route(method.upper(), path, about, shapes)))
    body = "".join(f"\n## {part[:1].upper()}{part[1:]}\n" + "".join(routes) for part, routes in parts.items())
    return HEAD + body + PROBLEMS_HEAD + "".join(_problems())


def _problems() -> Iterator[str]:
    from nowiser.server import problems

    seen = set()
    for found in vars(problems).values():
        if isinstance(found, problems.Problem) and (found.kind, found.status) not in seen:
            seen.add((found.kind, found.status))
            yield f"| {found.kind} | {found.status} | {found.title} |\n"


def _route(method: str, path: str, about: dict[str, Any], shapes: dict[str, Any]) -> Iterator[str]:
    yield f"\n### `{method} {path}`\n\n{about['description']}\n"
    shape = _shape_of(about, shapes)
    rows = [(p["name"], p.get("schema", {}), p.get("description"), p["required"]) for p in about.get("parameters", ())]
    needed = shape.get("required", ())
    rows += [(n, f, f.get("description"), n in needed) for n, f in shape.get("properties", {}).items()]
    if rows:
        yield "| field | type | |\n|---|---|---|"
        for name, field, words, required in rows:
            said = "; ".join(filter(None, [None if required else _default(field), words]))
            yield f"| `{name}` | {_type(field, shapes)} | {said} |"
        yield ""


def _default(field: dict[str, Any]) -> str:
    found = field.get("default")
    return f"default `{str(found).lower() if isinstance(found, bool) else found}`" if found is not None else "optional"


def _shape_of(about: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    found: dict[str, Any] = shapes[content["schema"]["$ref"].rsplit("/", 1)[1]] if content else {}
    return found


def _type(field: dict[str, Any], shapes: dict[str, Any]) -> str:
    if "$ref" in field:
        return _type(shapes[field["$ref"].rsplit("/", 1)[1]], shapes)
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"])
    if "anyOf" in field:
        kinds = [_type(one, shapes) for one in field["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    return str(field.get("type", "anything"))
