"""`nowiser verify`: words, JSON, exit codes, certificates, bad input."""

import json

import pytest

from support.commands import nowiser

PROGRAMS = """
from nowiser.verify.samples import laplace, flip

def total(d, eps):
    return sum(d) + laplace(1/eps)

def bare(d, eps):
    return d[0] >= 5

def squared(x, eps):
    return x*x + laplace(1/eps)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS, encoding="utf-8")
    return path


def test_proved_is_0_and_its_certificate_is_accepted_for_this_program_only(program, tmp_path):
    kept = tmp_path / "certificate.json"
    done = nowiser(tmp_path, "verify", f"{program}:total", "--private", "d", "--eps", "eps", "--certificate", str(kept))
    assert done.returncode == 0
    assert "Proved: ε" in (done.stdout + done.stderr)
    assert "73.1 %" in (done.stdout + done.stderr)
    accepted = nowiser(tmp_path, "verify", str(program), "--check", str(kept), "--json")
    assert accepted.returncode == 0
    assert json.loads(accepted.stdout)["accepted"] is True
    for other in (["--neighbours", "all"], ["--eps", "eps/2"], ["--rho", "1"], ["--delta", "0.1"], ["--whole"]):
        rejected = nowiser(tmp_path, "verify", str(program), "--check", str(kept), *other)
        assert rejected.returncode == 1
        assert "Rejected: it answers another question" in rejected.stdout
    program.write_text(PROGRAMS.replace("1/eps", "1/(2*eps)"), encoding="utf-8")
    rejected = nowiser(tmp_path, "verify", str(program), "--check", str(kept))
    assert rejected.returncode == 1
    assert "Rejected" in rejected.stdout


def test_refuted_is_1_and_says_it_as_a_guess_and_draws_it(program, tmp_path):
    done = nowiser(tmp_path, "verify", f"{program}:bare", "--eps", "eps", "--plot", str(tmp_path / "a.svg"))
    assert done.returncode == 1
    assert "an attacker who thought 50 % now knows with 100" in (done.stdout + done.stderr)
    assert "depends on the data and on no noise" in (done.stdout + done.stderr)
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_unknown_is_2_with_the_line(program, tmp_path):
    done = nowiser(tmp_path, "verify", f"{program}:squared", "--json")
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert (found["verdict"], found["line"]) == ("unknown", 11)


def test_bad_input_is_said(program, tmp_path):
    for arguments, message in (
        ([str(program)], "say which function"),
        ([f"{program}:total", "--neighbours", "two"], "neighbours 'two' are not known"),
        ([f"{program}:total", "--eps", "many"], "the claim 'many' is not understood"),
        ([f"{program}:total", "--public", "N"], "write name=number"),
        (["nowhere.py"], "cannot be read"),
        ([], "say which program"),
        (["--audit", "json:loads", "--eps", "1"], "--inputs must be"),
    ):
        done = nowiser(tmp_path, "verify", *arguments)
        assert done.returncode == 3
        assert message in (done.stdout + done.stderr)


def test_an_audit_of_a_black_box(tmp_path):
    (tmp_path / "boxes.py").write_text("def bare(x):\n    return x\n", encoding="utf-8")
    done = nowiser(tmp_path, "verify", "--audit", "boxes:bare", "--inputs", "[1, 2]", "--eps", "1", "--samples", "2000")
    assert done.returncode == 1
    assert "Refuted: ε = 1" in (done.stdout + done.stderr)
