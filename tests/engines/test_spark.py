"""Spark when it is not there, and when it fails midway."""

import sys
import threading
import time
from dataclasses import replace

import pytest

import nowiser.gateway
from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.spark import Spark
from nowiser.engines.spark.session import gone
from nowiser.errors import Misconfigured, NotEvaluated, Unreachable

POLICY = """
nowiser: 1
engine: {engine}
tables:
  t:
    source: t.csv
    person: p
    columns: {{p: {{identifier: integer}}}}
attackers: [{{guess: present in t, gain: 10%}}]
"""
SECRET = "s3cr3t-token"


def written(tmp_path, engine):
    (tmp_path / "t.csv").write_text("p\n1\n2\n")
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine=engine))
    return policies.read(tmp_path / "nowiser.yaml")


def test_it_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(Misconfigured, match="not installed") as caught:
        connect(written(tmp_path, "spark")).prepared_version()
    assert "nowiser[spark]" in str(caught.value)


@pytest.mark.parametrize(
    "engine",
    [f"spark-connect://127.0.0.1:1/;token={SECRET}", "spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2"],
)
def test_nobody_there_is_said_at_once(tmp_path, engine):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    started = time.monotonic()
    with pytest.raises(Unreachable) as caught:
        connect(written(tmp_path, engine)).prepared_version()
    assert time.monotonic() - started < 30
    assert caught.value.exit_code == 6
    assert "127.0.0.1" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_port_that_is_none(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    with pytest.raises(Misconfigured, match="no address of Spark"):
        connect(written(tmp_path, "spark://master:seven")).prepared_version()


def test_connect_without_its_packages(tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    monkeypatch.setattr("nowiser.engines.spark.session.find_spec", lambda _: None)
    monkeypatch.setattr("nowiser.engines.spark.session._listening", lambda _: None)
    monkeypatch.setattr("nowiser.engines.spark.session._used", {})
    with pytest.raises(Misconfigured, match="packages") as caught:
        connect(written(tmp_path, "spark-connect://127.0.0.1:15002")).prepared_version()
    assert "nowiser[spark]" in str(caught.value)


def test_cluster_without_a_place_for_prepared_rows(tmp_path, monkeypatch):
    monkeypatch.delenv("NOWISER_PREPARED", raising=False)
    engine = connect(written(tmp_path, "spark://master.example:7077"))
    assert engine._folder() is None
    monkeypatch.setenv("NOWISER_PREPARED", "s3a://clinic/nowiser/")
    assert engine._folder() == "s3a://clinic/nowiser"


def test_another_spark_in_this_process_is_refused_not_silently_used(tmp_path, spark_session, monkeypatch):
    assert spark_session.range(3).count() == 3
    monkeypatch.setattr("nowiser.engines.spark.session._listening", lambda _: None)
    for engine in ("spark://master.example:7077", "spark-connect://server.example"):
        for used in ({"engine": "spark"}, {}):  # opened by us, or by whoever else runs here
            monkeypatch.setattr("nowiser.engines.spark.session._used", used)
            with pytest.raises(Misconfigured, match="another Spark"):
                connect(written(tmp_path, engine)).prepared_version()


# -- midway --------------------------------------------------------------------------------------------------


def slow(engine, seconds=60):
    """From now on every question takes so long."""
    known = engine._look()
    sleep = f"(SELECT reflect('java.lang.Thread', 'sleep', CAST({seconds * 1000} AS BIGINT)) AS z FROM range(1))"
    waiting = f"(SELECT given.* FROM {{}} AS given, {sleep} AS asleep WHERE asleep.z IS NOT NULL)"
    table = known.dialect.table
    engine._known = replace(known, dialect=replace(known.dialect, table=lambda scan: waiting.format(table(scan))))


def fails(gateway):
    left, started = gateway.allowance()["left"], time.monotonic()
    with pytest.raises(NotEvaluated) as caught:
        gateway.query("SELECT COUNT(*) FROM t", anyway=True)
    assert caught.value.exit_code == 7
    assert "sleep" not in str(caught.value)
    assert time.monotonic() - started < 55
    assert gateway.allowance()["left"] < left, "charged, and not given back"


def well_again(gateway, engine):
    engine._known = None
    assert gateway.query("SELECT COUNT(*) FROM t WHERE p > 1", anyway=True).rows


def test_a_slow_question_is_stopped_and_stays_charged(tmp_path, spark_session):
    policy = written(tmp_path, "spark")
    engine = Spark(policy, seconds=1000)
    with nowiser.gateway.Gateway(policy, engine=engine) as gateway:
        slow(engine)
        engine._seconds = 2
        fails(gateway)
        engine._seconds = 1000
        well_again(gateway, engine)


def test_a_cancelled_question_stays_charged(tmp_path, spark_session, monkeypatch):
    policy = written(tmp_path, "spark")
    engine = Spark(policy)
    with nowiser.gateway.Gateway(policy, engine=engine) as gateway:
        slow(engine)
        over, left, lost = threading.Event(), gateway.allowance()["left"], engine._lost

        def strike():  # again and again once it is charged: Spark lists and starts jobs late
            while not over.wait(0.2):
                if gateway.allowance()["left"] < left:
                    spark_session.sparkContext.cancelAllJobs()

        def spared():  # from where the engine looks whether Spark is still alive
            over.set()
            killer.join()
            lost()

        killer = threading.Thread(target=strike)
        monkeypatch.setattr(engine, "_lost", spared)
        killer.start()
        try:
            fails(gateway)
        finally:
            over.set()
            killer.join()
        well_again(gateway, engine)


def test_a_cancelled_look_is_no_dead_spark(spark_session):
    """Whoever shares the session may cancel everything, also our look whether Spark lives; it must not be ended."""
    context = spark_session.sparkContext
    context.setJobGroup("doomed", "whatever is asked in this thread is cancelled when it starts")
    context._jsc.sc().cancelJobGroupAndFutureJobs("doomed")
    try:
        with pytest.raises(Exception, match="SPARK_JOB_CANCELLED"):
            spark_session.range(1).count()
        assert not gone(spark_session)
    finally:
        context._jsc.clearJobGroup()
    assert spark_session.range(3).count() == 3, "and everybody goes on"


def test_settings_changed_by_others_are_set_again(tmp_path, spark_session):
    engine = connect(written(tmp_path, "spark"))
    engine.prepared_version()
    spark_session.conf.set("spark.sql.ansi.enabled", "false")
    engine.prepared_version()
    assert spark_session.conf.get("spark.sql.ansi.enabled") == "true"
    engine.close()
