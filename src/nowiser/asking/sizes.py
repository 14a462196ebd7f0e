"""How many rows a question is about, as far as anybody may know: what an answer is judged by before it is charged.

Read are public rows, under `protect: values`, and stored answers; never a secret.
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nowiser.asking.earlier import earlier, stored_cells
from nowiser.engines.aligned import aligned
from nowiser.engines.base import Engine
from nowiser.errors import Misconfigured, NotAnswerable, NotEvaluated, Unreachable
from nowiser.ledger.base import Ledger
from nowiser.model.policy import Policy
from nowiser.report.kept import again
from nowiser.report.usefulness import Size, Source, person_table, shows_nothing, size_of
from nowiser.sql.answer.expected import share, spread
from nowiser.sql.canonical import digest
from nowiser.sql.plan import precision
from nowiser.sql.plan.plan import Plan
from nowiser.sql.plan.public_rows import counting, how_many, per_group
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Query, Scan

if TYPE_CHECKING:
    import pyarrow as pa

SMALL = 50_000_000  # bytes, which are prepared in a moment
REMEMBERED = 64  # counts of public rows
OFTEN = tuple(Fraction(n, 100) for n in (1, 2, 5, 10, 20, 25, 50, 100))  # shares that people spend on a count


class Sizes:
    """The sizes of the groups of questions under one policy. `plan` and `public` are those of the gateway."""

    def __init__(
        self,
        policy: Policy,
        engine: Engine,
        ledger: Ledger,
        plan: Callable[[Query], Plan],
        public: Callable[[Tally], "pa.Table"],
    ) -> None:
        self.policy, self._engine, self._ledger, self._plan, self._public = policy, engine, ledger, plan, public
        self._counts: dict[tuple[Tally, str], pa.Table] = {}

    def of(self, question: Query, planned: Plan, version: str) -> Size:
        """How many rows are expected in each group: counted where that is public, else told, declared or assumed."""
        if planned.free or shows_nothing(planned):
            return Size(np.zeros(len(planned.groups)))
        asked = counting(question, self.policy)
        if asked is None:
            told = self._following(question, planned, version)
            return told or size_of(self.policy, planned, self._told(planned, version))
        public = [i for i, (_, r) in enumerate(zip(planned.tally.cells, planned.reaches, strict=False)) if r.exact]
        exact = dict(zip(public, aligned(self._counted(planned.public), planned) if public else [], strict=True))
        hides = asked.left_out or len(asked.keys) < len(question.keys)
        if hides and (told := self._following(question, planned, version)) is not None:
            return replace(told, exact=exact)
        try:
            counted = self._plan(asked.query)
        except NotAnswerable:  # which groups there are is found in the data
            return size_of(self.policy, planned)
        (found,) = aligned(self._counted(counted.tally), counted)
        rows = per_group(planned, counted, asked.keys, found)
        rows = spread(planned, float(found.sum())) if rows is None else rows
        return Size(rows * share(asked.left_out), "public", exact)

    def at_hand(self, question: Query, planned: Plan) -> Size:
        """The same for an explanation, which reads the data only if that takes a moment, and does without them."""
        with contextlib.suppress(Misconfigured, Unreachable, NotEvaluated):  # no data that can be read: a query says so
            estimate = self._engine.estimate()
            if estimate.done or estimate.bytes <= SMALL:
                return self.of(question, planned, self._engine.prepared_version())
        return size_of(self.policy, planned)

    def _counted(self, tally: Tally) -> "pa.Table":
        """Something public, read once for each state of the data."""
        version = self._engine.prepared_version()
        if (found := self._counts.get((tally, version))) is None:
            self._counts = {} if len(self._counts) >= REMEMBERED else self._counts
            found = self._counts[tally, version] = self._public(tally)
        return found

    def _following(self, question: Query, planned: Plan, version: str) -> Size | None:
        """How many rows each group has, where stored answers tell that of one group at least.

        Of a group that may as well be empty it is told how large it is at most.
        """
        if not self.policy.reuse or question.sets is not None:
            return None
        try:
            counted = self._plan(how_many(question.relation, question.keys))
        except NotAnswerable:
            return None
        old = earlier(counted, stored_cells(self._ledger, version), list)
        if old is None or len(old[1][0]) != len(planned.groups):
            return None
        (noise,), (rows,) = old
        bars = np.zeros(1) if noise is None else np.asarray(noise.half_width(), dtype=np.float64)
        known = bars < rows
        at_most = np.maximum(rows, 0) + bars
        return Size(np.where(known, rows, at_most).astype(np.float64), "answered") if known.any() else None

    def _told(self, planned: Plan, version: str) -> dict[str, tuple[float, Source]]:
        """How many rows the table has, where an answer told that: however coarsely, it is more than was assumed."""
        table = person_table(planned)
        if table is None:
            return {}
        counted = how_many(Scan("t0", table))
        for spent in dict.fromkeys((self.policy.spend, *OFTEN)):
            kept = self._ledger.stored(digest(counted, str(precision.Wish(spend=spent))), version)
            if kept is not None:
                ((value,),), (bar,) = again(kept).rows or ((0,),), again(kept).error
                if isinstance(bar, float) and bar < value:
                    return {table.name: (float(value), "answered")}
        return {}
