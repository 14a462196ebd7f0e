"""Run as a process of its own, because PySpark has one kind of session in each: asks a Spark server, says what it got.

Reads one JSON object a line (what to do), and answers each with one JSON object a line.
"""

import json
import sys
from pathlib import Path

import nowiser.gateway
from engines import test_conformance, test_engines, test_spark
from nowiser import policy as policies
from nowiser.engines.spark import Spark, session
from nowiser.errors import NowiserError

CROSSED = []  # how many rows each answer of Spark had


def spied(kind):
    for name in ("toArrow", "collect", "toPandas"):
        own = getattr(kind, name)

        def spy(frame, *arguments, own=own):
            found = own(frame, *arguments)
            CROSSED.append(len(found))
            return found

        setattr(kind, name, spy)


def main():
    policy = policies.read(Path(sys.argv[1]))
    engine = Spark(policy, seconds=500)
    gateway = nowiser.gateway.Gateway(policy, engine=engine)
    engine.prepared_version()
    spied(type(engine._session.range(1)))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        print(json.dumps(globals()[wanted.pop("do")](policy, engine, gateway, **wanted), default=str), flush=True)


def ask(policy, engine, _gateway, sql):
    CROSSED.clear()
    found = test_engines.ask(policy, engine, sql)
    found = {("picked", i): one for i, one in enumerate(found)} if isinstance(found, list) else found
    return {"found": [[list(key), cells] for key, cells in found.items()], "crossed": max(CROSSED)}


def prepare(_policy, engine, _gateway):
    done = engine.prepare(lambda *_: None)
    return {"where": done.where, "done": engine.estimate().done, "kept": done.version == engine.prepared_version()}


def query(_policy, engine, gateway, sql, *, seconds=500, slow=False, pause=20, alive=session.ALIVE_SECONDS):
    """A whole question; `slow`: it takes `pause` seconds."""
    session.ALIVE_SECONDS = alive
    try:
        if slow:
            test_spark.slow(engine, pause)
        engine._seconds = seconds
        gateway.query(sql, anyway=True)
        said = {"exit": 0}
    except NowiserError as error:
        said = {"exit": error.exit_code, "message": str(error)}
    engine._known, engine._seconds = None, 500
    return said | {"left": gateway.allowance()["left"]}


def functions(_policy, engine, _gateway, every):
    """The cases of the conformance suite, each so-manieth of them."""
    tried = test_conformance.CASES[::every]
    under = test_conformance.spark_under(engine._session, tried)
    for case in tried:
        test_conformance.compare(under, *case.values)
    return {"tried": len(tried)}


if __name__ == "__main__":
    main()
