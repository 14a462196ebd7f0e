"""The docs site builds offline, without warnings, and needs nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 5
    for page in pages:
        loaded = re.findall(
            r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert loaded == [], f"{page.name} loads {loaded}"


def test_mathematics_becomes_mathml():
    sys.path.insert(0, str(ROOT / "tools"))
    from mathml import put_back, take_out

    text = "an\n$\\varepsilon$ of $x^2$, `$code$` and 5 $ or 6 $\n\n$$y$$\n\n```bash\n$ make $x$\n```\n"
    marked, drawn = take_out(text)
    assert "<math" not in marked
    assert [d.count("<math") for d in drawn] == [1, 1, 1]
    back = put_back(marked, drawn)
    assert back.count("<math") == 3
    assert back.count('display="block"') == 1
    assert "`$code$`" in back
    assert "$ make $x$" in back
    assert "5 $ or 6 $" in back
