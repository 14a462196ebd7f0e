"""The custodian's report of a release: risks before and after, each column's loss, the recipe, the date; and Ctrl-C."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.files.interrupted import interruptible


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "age": random.integers(20, 60, 500),
            "sex": random.choice(["f", "m"], 500),
            "ill": random.choice(["a", "b"], 500),
        }
    )


def test_the_report_says_what_was_risked_before_and_after_and_what_each_column_lost(tmp_path, frame):
    out = tmp_path / "out.csv"
    made = nw.publish(frame, quasi={"age": "intervals:10:20", "sex": "flat"}, sensitive="ill", k=5, output=out)
    risks = made.report()["risks"]
    sizes = frame.groupby(["age", "sex"]).size()
    assert risks["before"]["rows that are alone"] == int((sizes == 1).sum())
    assert risks["before"]["average risk"] == pytest.approx(len(sizes) / 500)
    assert risks["before"]["highest risk"] == pytest.approx(1 / sizes.min())
    assert risks["after"]["smallest group"] == made.chosen.smallest
    page = out.with_suffix(".report.html").read_text(encoding="utf-8")
    for words in (
        "Risk of being found",
        "as it was",
        "knows somebody",
        "information lost",
        "intervals:10:20",
        "k-anonymity (k 5)",
        str(dt.datetime.now().astimezone().date()),
    ):
        assert words in page
    book = out.with_suffix(".codebook.json").read_text(encoding="utf-8")
    assert "as it was" not in book
    assert "losses" not in book, "computed from the true table: not published"


def test_a_columns_loss_is_the_entropy_its_label_leaves_open(frame):
    made = nw.publish(frame, quasi={"age": "intervals:10:20", "sex": "flat"}, k=5)
    table = pd.DataFrame({"before": frame["age"].to_numpy()[made.table.origin], "after": made.to_pandas()["age"]})

    def entropy(column):
        share = column.value_counts(normalize=True)
        return -(share * np.log2(share)).sum()

    left = sum(len(part) / len(table) * entropy(part["before"]) for _, part in table.groupby("after"))
    losses = made.report()["risks"]["losses"]
    assert losses["age"] == pytest.approx(left / entropy(table["before"]))
    assert losses["sex"] == pytest.approx(0.0)


def test_ctrl_c_while_duckdb_works_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise RuntimeError("Query interrupted")  # what DuckDB raises then
    with pytest.raises(RuntimeError, match="something else"), interruptible():
        raise RuntimeError("something else")
