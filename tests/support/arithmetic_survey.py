"""Look for arithmetic that breaks a promise, for so many seconds: PYTHONPATH=tests python -m support.arithmetic_survey 60 [seed].

Prints each kind of finding once per shape, made small, with the second it was found in.
"""

import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nowiser import policy as policies
from nowiser.engines import connect
from support.arithmetic_grammar import Grammar
from support.arithmetic_oracle import Bench, search
from support.arithmetic_world import POLICY, make_rows


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        rows = make_rows(seed)
        (Path(folder) / "nowiser.yaml").write_text(POLICY)
        for table in ("v", "p"):
            (Path(folder) / f"{table}.csv").write_text(rows.written())
        policy = policies.read(Path(folder) / "nowiser.yaml")
        bench, grammar = Bench(policy, connect(policy), rows), Grammar(seed)
        started, seen = time.monotonic(), Counter()
        planned = asked = 0
        while time.monotonic() - started < seconds:
            found = search(bench, grammar, 400, most=400)
            planned, asked = planned + found.planned, asked + found.asked
            for f in found.findings:
                shape = f.what, frozenset(re.findall(r"\b[A-Z_]+\b|[-+*/%^]", f.sql))
                if not seen[shape]:
                    print(f"{time.monotonic() - started:6.1f} s  {f}", flush=True)
                seen[shape] += 1
        print(f"{asked} asked, {planned} planned, {sum(seen.values())} findings of {len(seen)} shapes")


if __name__ == "__main__":
    main()
