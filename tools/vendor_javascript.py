"""Fetches the JavaScript of others that the pages use: pinned npm packages, by name, version and SHA-512.

hatchling runs it when nowiser is built or installed from its source. `python tools/vendor_javascript.py` fetches by
hand; `… --pin` writes the lock anew, with the newest versions. Which registry is asked is the npm client's matter:
NPM_CONFIG_REGISTRY, `npm config get registry`, or .npmrc. Where there is none, or it cannot be reached, the SQL box of
the pages stays a plain text area. A package that is not what the lock says stops the build.
"""

import base64
import hashlib
import http.client
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "vendor.lock.json"
INTO = ROOT / "src" / "nowiser" / "server" / "pages" / "vendor"
WANTED = ("@codemirror/autocomplete", "@codemirror/commands", "@codemirror/lang-sql", "@codemirror/view")
SECONDS, LARGEST = 20, 5_000_000  # for each package


class Unreachable(Exception):
    """No registry, or no answer."""


def vendor(into: Path = INTO, lock: Path = LOCK) -> Path:
    """The modules, their licences and the import map, in a folder. Nothing is fetched that is there already."""
    pinned = lock.read_bytes()
    if (into / "lock.json").is_file() and (into / "lock.json").read_bytes() == pinned:
        return into
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as folder:
        made, imports, licences = Path(folder) / "made", {}, []
        made.mkdir()
        url = registry()
        for package in json.loads(pinned):
            files = unpacked(checked(fetched(address(url, package)), package))
            file = package["name"].removeprefix("@").replace("/", "-") + ".js"
            (made / file).write_bytes(files[package["module"]])
            imports[package["name"]] = file
            text = next(content for name, content in files.items() if name.upper().startswith("LICENSE"))
            licences.append(f"{package['name']} {package['version']}: {package['licence']}\n\n{text.decode()}")
        (made / "importmap.json").write_text(json.dumps({"imports": imports}, indent=1), encoding="utf-8")
        (made / "LICENSES.txt").write_text("\n\n".join(licences), encoding="utf-8")
        (made / "lock.json").write_bytes(pinned)
        shutil.rmtree(into, ignore_errors=True)
        made.replace(into)  # whole, or not at all
    return into


def registry() -> str:
    """As the npm client is told."""
    said, npm, own = os.environ.get("NPM_CONFIG_REGISTRY", ""), shutil.which("npm"), Path.home() / ".npmrc"
    if not said and npm:
        asked = [npm, "config", "get", "registry"]
        try:
            said = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=SECONDS).stdout.strip()  # noqa: S603 (npm itself)
        except subprocess.TimeoutExpired:
            raise Unreachable("npm does not say which registry") from None
    if not said and own.is_file():
        lines = own.read_text(encoding="utf-8").splitlines()
        said = next((line.partition("=")[2].strip() for line in lines if line.startswith("registry")), "")
    if not said.startswith(("http://", "https://")):
        raise Unreachable("no npm registry is configured")
    return said.rstrip("/")


def address(url: str, package: dict[str, str]) -> str:
    name = package["name"]
    return f"{url}/{name}/-/{name.rpartition('/')[2]}-{package['version']}.tgz"


def fetched(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 (http or https: see `registry`)
            content: bytes = answer.read(LARGEST + 1)
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable("the npm registry does not answer") from error
    return content


def checked(content: bytes, package: dict[str, str]) -> bytes:
    found = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != package["sha512"]:
        raise ValueError(f"{package['name']} {package['version']} is not what vendor.lock.json says")
    return content


def unpacked(content: bytes) -> dict[str, bytes]:
    """Files by their path in the package; nothing is written."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            read = archive.extractfile(member)
            if read is not None:
                found[member.name.partition("/")[2]] = read.read()
    return found


def pin(lock: Path = LOCK) -> None:
    """The newest versions of what is wanted and of all it needs."""
    url, found, names = registry(), dict[str, dict[str, str]](), list(WANTED)
    while names:
        name = names.pop()
        if name in found:
            continue
        told: dict[str, Any] = json.loads(fetched(f"{url}/{name.replace('/', '%2f')}/latest"))
        package = {"name": name, "version": told["version"], "licence": told["license"], "module": module(told)}
        content = fetched(address(url, package))
        sha512 = base64.b64encode(hashlib.sha512(content).digest()).decode()
        if told["dist"]["integrity"] != f"sha512-{sha512}":
            raise ValueError(f"{name} is not what its registry says")
        found[name] = package | {"sha512": sha512}
        names += told.get("dependencies", {})
    lock.write_text(json.dumps([found[n] for n in sorted(found)], indent=1) + "\n", encoding="utf-8")


def module(told: dict[str, Any]) -> str:
    """The file that `import` reads."""
    exports = told.get("exports", {})
    said: str = told.get("module") or exports.get(".", exports)["import"]
    return said.removeprefix("./")


def main() -> None:
    if "--pin" in sys.argv[1:]:
        pin()
    print(vendor())  # noqa: T201 (a tool)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # by hand, or in a test
    pass
else:

    class Hook(BuildHookInterface):  # type: ignore[misc,type-arg]  # hatchling has no types here
        """Runs before a wheel, and before an editable installation."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (hatchling's words)
            try:
                vendor()
            except Unreachable as why:
                self.app.display_warning(f"The SQL box of the pages stays a plain text area: {why}.")


if __name__ == "__main__":
    main()
