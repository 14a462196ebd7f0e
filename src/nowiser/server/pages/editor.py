"""The editor of the SQL box: CodeMirror, where the build could fetch it (`tools/vendor_javascript.py`). Else it is a
plain text area.

Browsers find its modules by an import map, which must stand in the page. It is the one script that does; the
Content-Security-Policy allows it by its hash.
"""

import hashlib
import json
from base64 import b64encode
from functools import cache
from pathlib import Path

from markupsafe import Markup

FOLDER = Path(__file__).parent / "vendor"


@cache
def modules() -> dict[str, bytes]:
    """Files by name; none where nothing was fetched."""
    return {file.name: file.read_bytes() for file in sorted(FOLDER.glob("*.js"))}


def address(name: str, content: bytes) -> str:
    """It changes with the content, so a browser may keep the file for ever."""
    return f"/static/{name}?{hashlib.sha256(content).hexdigest()[:12]}"


@cache
def import_map() -> Markup:
    """Empty where there is no editor."""
    if not modules():
        return Markup()
    files: dict[str, str] = json.loads((FOLDER / "importmap.json").read_text(encoding="utf-8"))["imports"]
    found = {name: address(file, modules()[file]) for name, file in files.items()}
    text = json.dumps({"imports": found}).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 (no `<` in it, and no word of others)


def allowed() -> str:
    """What the Content-Security-Policy says of the import map."""
    digest = hashlib.sha256(str(import_map()).encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'" if import_map() else ""
