"""Builds the site: `python tools/build_site.py [FOLDER]`. It opens without a server and without a network."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
# What the theme loads from elsewhere so that search works on pages opened from a folder, and the package that has it
ELSEWHERE, PACKAGE = "https://unpkg.com/iframe-worker/shim", "iframe-worker@1.0.4"


def build(folder: Path) -> None:
    """Every page of the nav, strictly: a broken link or anchor fails."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    unlisted = sorted(set(pages()) - set(listed(settings["nav"])))
    if unlisted:
        raise SystemExit(f"mkdocs.yml lists no {', '.join(unlisted)} in its nav")
    with tempfile.TemporaryDirectory() as beside:  # zensical writes its site and its cache beside the settings
        shutil.copytree(ROOT / "docs", Path(beside) / "docs")
        shutil.copy(ROOT / "mkdocs.yml", beside)
        path = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(command, cwd=beside, env=os.environ | {"PYTHONPATH": path}, check=False)  # noqa: S603 (our own words)
        if done.returncode:
            raise SystemExit(done.returncode)
        made = Path(beside) / settings["site_dir"]
        ours = shim(Path(beside), made)
        for page in made.rglob("*.html"):
            up = "../" * (len(page.relative_to(made).parts) - 1)
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace(ELSEWHERE, up + ours), encoding="utf-8")
        if (folder / "sitemap.xml").is_file():  # a site that was built before, and nothing else, is replaced
            shutil.rmtree(folder)
        shutil.copytree(made, folder, dirs_exist_ok=True)


def shim(beside: Path, made: Path) -> str:
    """The script of the package, taken from the npm registry when the site is built; nothing of it where npm is absent.

    Without it the search box works on a server, not on pages opened from a folder.
    """
    script = made / "assets" / "iframe-worker.js"
    npm = shutil.which("npm")
    packed = npm and subprocess.run([npm, "pack", "--silent", PACKAGE], cwd=beside, check=False).returncode == 0  # noqa: S603 (our own words)
    if packed:
        with tarfile.open(next(beside.glob("*.tgz"))) as archive:
            found = archive.extractfile("package/shim/index.js")
            script.write_bytes(found.read() if found else b"")
    else:
        print(f"npm has no {PACKAGE}: search works on a server only", file=sys.stderr)  # noqa: T201 (a script that prints)
        script.write_text("/* without a shim: search works on a server only */\n", encoding="utf-8")
    return script.relative_to(made).as_posix()


def pages() -> list[str]:
    docs = ROOT / "docs"
    return [page.relative_to(docs).as_posix() for page in docs.rglob("*.md")]


def listed(nav: list[object]) -> list[str]:
    """The pages of a nav, however deep."""
    found: list[str] = []
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found += listed(value) if isinstance(value, list) else [str(value)]
    return found


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
