"""`make bench`: every benchmark of this folder, one table each, and its figures in results/."""

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
    folder = Path(benchmarks.__path__[0]) / "results"
    folder.mkdir(exist_ok=True)
    machine = {"machine": platform.platform(), "python": platform.python_version()}
    for name in chosen or names:
        started = time.strftime("%F %T")
        rows = import_module(f"benchmarks.{name}").run()
        show(name, rows)
        # One file each, written as soon as it is measured: a later one that fails takes nothing away.
        target = folder / f"{name}.json"
        result = {**machine, "started": started, "rows": rows}
        target.write_text(json.dumps(result, indent=2, default=str, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"written to {target}")


main()
