import sys

import pytest


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit code, standard output, standard error."""
    from nowiser.cli.main import run as entry

    def call(*words, command="guess"):
        monkeypatch.setattr(sys, "argv", ["nowiser", command, *words])
        monkeypatch.setenv("COLUMNS", "100")
        try:
            entry()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
