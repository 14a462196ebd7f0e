"""Spark when it is not there."""

import sys

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.errors import Misconfigured, Unreachable

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


def opened(tmp_path, engine):
    (tmp_path / "t.csv").write_text("p\n1\n")
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine=engine))
    return connect(policies.read(tmp_path / "nowiser.yaml"))


def test_it_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(Misconfigured, match="not installed") as caught:
        opened(tmp_path, "spark").version()
    assert "nowiser[spark]" in str(caught.value)


def test_connect_without_anybody_there(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    with pytest.raises((Misconfigured, Unreachable)) as caught:
        opened(tmp_path, "spark-connect://127.0.0.1:1").version()
    assert "127.0.0.1" not in caught.value.message


def test_cluster_without_a_place_for_prepared_rows(tmp_path, monkeypatch):
    monkeypatch.delenv("NOWISER_PREPARED", raising=False)
    engine = opened(tmp_path, "spark://master.example:7077")
    assert engine._folder() is None
    monkeypatch.setenv("NOWISER_PREPARED", "s3a://clinic/nowiser/")
    assert engine._folder() == "s3a://clinic/nowiser"
