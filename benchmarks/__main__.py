"""`make bench`: every benchmark of this folder, one table each, and all figures in results/latest.json."""

import json
import pkgutil
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

import benchmarks
from benchmarks.table import show

NOT_ONE = {"__main__", "table", "peers", "crowd"}


def main() -> None:
    chosen = sys.argv[1:]
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in NOT_ONE]
    unknown = set(chosen) - set(names)
    if unknown:
        sys.exit(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    results = {"machine": platform.platform(), "python": platform.python_version(), "started": time.strftime("%F %T")}
    for name in chosen or names:
        rows = import_module(f"benchmarks.{name}").run()
        show(name, rows)
        results[name] = rows
    target = Path(benchmarks.__path__[0]) / "results" / "latest.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(results, indent=2, default=str) + "\n", encoding="utf-8")
    print(f"written to {target}")


main()
