"""All code in the docs runs, and says what the page says it says."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.commands import nowiser

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?P<options>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL
)
# what is quoted, and words that no shell would change
QUOTED, PLAIN = re.compile(r"'[^']*'|\"[^\"$`\\]*\""), re.compile(r"[\w \-./:=,%+@]*")
ALONE = {"make", "git", "pip"}  # commands of the reader's own shell: shown, not run


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', fence["options"])
        body = re.sub(rf"^{fence['indent']}", "", fence["body"], flags=re.MULTILINE)
        found.append(Block(fence["language"], title and title[1], body, text.count("\n", 0, fence.start()) + 1))
    return found


RUNNABLE = [p for p in PAGES if any(b.language in {"python", "console"} for b in blocks(p))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
@pytest.mark.filterwarnings("default")
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.title:
            target = tmp_path / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            run_python(block.body, names, where)
        elif block.language == "ipython":
            run_ipython(block.body, where)
        elif block.language == "console":
            for command, expected in commands(block.body):
                run_command(command, expected, tmp_path, where)


def run_python(source: str, names: dict[str, object], where: str) -> None:
    if source.lstrip().startswith(">>>"):
        import doctest

        test = doctest.DocTestParser().get_doctest(source, names, where, None, 0)
        said: list[str] = []
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        result = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
        assert not result.failed, f"{where}\n" + "".join(said)
    else:
        exec(compile(source, where, "exec"), names)


def run_ipython(source: str, where: str) -> None:
    """A cell of a notebook, in a real IPython shell that all cells share."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.testing.globalipapp import start_ipython

    done = (start_ipython() or InteractiveShell.instance()).run_cell(source, store_history=False)
    assert done.success, f"{where}: {done.error_before_exec or done.error_in_exec!r}"


def commands(body: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\") and line.startswith("> "):
            found[-1] = (found[-1][0][:-1] + line[2:], [])
        elif found:
            found[-1][1].append(line)
    return found


def run_command(command: str, expected: list[str], folder: Path, where: str) -> None:
    wanted = re.search(r"  # exit (\d+)$", command)
    if shlex.split(command, comments=True)[0] in ALONE:
        return
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    first, *words = shlex.split(command, comments=True)
    if first == "nowiser" and PLAIN.fullmatch(QUOTED.sub("", command.partition("  #")[0])):
        done = nowiser(folder, *words, environment=environment)
    else:
        shell = {"cwd": folder, "env": os.environ | environment, "timeout": 300}
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, **shell)
    said = done.stdout + done.stderr
    assert done.returncode == (int(wanted[1]) if wanted else 0), f"{where}: {command}\n{said}"
    text = "\n".join(expected).strip()
    if text:
        pattern = ".*?".join(re.escape(squeeze(part)) for part in text.split("…"))
        assert re.fullmatch(pattern, squeeze(said).strip(), re.DOTALL), (
            f"{where}: {command}\nit said:\n{said}\nthe page says:\n{text}"
        )


def squeeze(text: str) -> str:
    """What must agree: not how wide a table is drawn, and not a noisy number, but its error bar."""
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"━[━╇]*", "━", re.sub(r"[ \t]+", " ", text))
    return re.sub(r"-?[\d.,]+(?:e[+-]?\d+)? ± ", "# ± ", text)
