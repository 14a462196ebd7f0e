"""Planning: what of a question is read from public data before anything is charged."""

from typing import TYPE_CHECKING

from nowiser import ledger
from nowiser.asking.running import run
from nowiser.engines.aligned import aligned, distinct_keys
from nowiser.engines.base import Broken, Engine
from nowiser.engines.lacking import refuse_lacking
from nowiser.errors import NotAnswerable, NotEvaluated
from nowiser.model.policy import Policy
from nowiser.model.schema import Value
from nowiser.report import failure
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import Plan, keys_to_read, plan
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.expressions.constants import shown_as
from nowiser.sql.tree import Literal, Query

if TYPE_CHECKING:
    import pyarrow as pa

UNREAD = "The question could not be evaluated. Nothing was charged: only something public was read."


def planned(question: Query, policy: Policy, engine: Engine) -> Plan:
    """The plan; values of keys that stand in public tables or columns are read there, which touches no secret."""
    read: dict[int, tuple[Value, ...]] = {}
    for i, home in keys_to_read(question, policy):
        found = public(Tally(home, (question.keys[i],), ()), policy, engine)
        read[i] = distinct_keys(found, question.keys[i].type.kind)
    made = plan(question, policy, read)
    for tally in made.tallies:
        refuse_lacking(tally, engine)
    return made


def public(tally: Tally, policy: Policy, engine: Engine) -> "pa.Table":
    """Something public, read before anything is charged."""
    try:
        return engine.run(tally)
    except Broken as error:
        failure.record(ledger.state_folder(policy), error)
        raise NotEvaluated(UNREAD) from None


def free(question: Query, policy: Policy, engine: Engine) -> Literal:
    """The one value of a question that stands inside another: of something public, exact and free."""
    made = planned(question, policy, engine)
    if not made.free or question.keys or question.after or len(question.outputs) != 1:
        raise NotAnswerable("This is not one number of public tables.")
    try:
        made, cells = run(engine, made)
        value = release.results(made, [None] * len(made.reaches), cells).one()
    except Broken as error:
        failure.record(ledger.state_folder(policy), error)
        raise NotEvaluated(UNREAD) from None
    return shown_as(value, question.outputs[0].expression.type.kind)


def fewest(planned: Plan, policy: Policy, engine: Engine) -> int | None:
    """Rows in the smallest group, where that is public: what an average divides by."""
    bottoms = {r.bottom for r in planned.readings if r.bottom is not None and planned.reaches[r.bottom].exact}
    if not bottoms:
        return None
    exact = [i for i, r in enumerate(planned.reaches) if r.exact]
    cells = aligned(public(planned.public, policy, engine), planned)
    return min((int(n) for i in bottoms for n in cells[exact.index(i)] if n > 0), default=None)
