"""`nowiser hierarchies`: shown, written, edited, used."""

import json

import pandas as pd

from support.commands import nowiser as run


def test_hierarchies_are_shown_written_edited_and_used(tmp_path):
    source = tmp_path / "data.csv"
    pd.DataFrame({"age": [20 + i % 40 for i in range(400)], "sex": ["f", "m"] * 200}).to_csv(source, index=False)
    shown = run(tmp_path, "hierarchies", str(source))
    assert "intervals:2:10:20" in shown.stdout
    told = json.loads(run(tmp_path, "hierarchies", str(source), "-o", str(tmp_path / "levels"), "--json").stdout)
    assert told["columns"]["age"]["labels"][0] == 40
    assert len(told["files"]) == 2
    edited = tmp_path / "levels" / "age.csv"
    edited.write_text("".join(f"{v};{'young' if v < 40 else 'old'};*\n" for v in range(20, 60)), encoding="utf-8")
    used = run(
        tmp_path,
        "publish",
        str(source),
        "--quasi",
        "age,sex",
        "--hierarchies",
        str(tmp_path / "levels"),
        "-k",
        "50",
        "-o",
        str(tmp_path / "out.csv"),
        "--yes",
    )
    assert used.returncode == 0, used.stderr
    assert set(pd.read_csv(tmp_path / "out.csv")["age"]) == {"young", "old"}
    again = run(tmp_path, "hierarchies", str(source), "-o", str(tmp_path / "levels"))
    assert again.returncode == 3
    assert "already there" in again.stderr
