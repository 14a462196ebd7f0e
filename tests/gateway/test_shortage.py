"""What is said when the allowance does not cover a question, and what `explain` says then."""

import pytest

import nowiser.gateway
from nowiser.errors import Exhausted

SUM = "SELECT SUM(time) FROM visits"


def test_a_refusal_says_what_it_needs_what_is_left_and_what_to_ask(canteen):
    canteen.query("SELECT AVG(time) FROM visits", spend="90%", anyway=True)
    with pytest.raises(Exhausted) as caught:
        canteen.query(SUM, spend="40%", anyway=True)
    refused = caught.value
    assert refused.needed == 0.4
    assert refused.left == pytest.approx(0.1, abs=0.01)
    assert refused.to_json()["ask"] == refused.ask
    assert "spend=" in refused.hint
    assert "--" not in refused.hint
    answer = canteen.query(SUM, **refused.ask, anyway=True)
    assert answer.left < 0.02, "what was proposed is about all that is left"


def test_an_error_that_is_too_small_says_how_much_too_small(canteen):
    with pytest.raises(Exhausted) as caught:
        canteen.query("SELECT AVG(time) FROM visits", error=0.001, anyway=True)
    assert caught.value.needed > 10
    assert caught.value.left == 1
    before = canteen._ledger.totals()
    explained = canteen.explain("SELECT AVG(time) FROM visits", error=0.001)
    assert explained.price == pytest.approx(caught.value.needed, rel=0.05)
    assert not explained.admitted
    assert canteen._ledger.totals() == before


def test_explain_answers_when_nothing_is_left(canteen):
    fresh = canteen.explain(SUM)
    assert fresh.admitted
    assert fresh.price == pytest.approx(0.05, rel=0.01)
    assert fresh.to_dict()["admitted"] is True
    canteen.query("SELECT AVG(time) FROM visits", spend="100%", anyway=True)
    with pytest.raises(Exhausted) as caught:
        canteen.query(SUM, anyway=True)
    assert caught.value.ask == {}
    assert "Nothing of the allowance is left" in caught.value.hint
    late = canteen.explain(SUM)
    assert late.to_dict()["admitted"] is False
    assert late.error == fresh.error, "the same noise as on the first day"
    assert late.guesses[0]["after"] > late.guesses[0]["limit"]
    assert "Not admitted" in str(late)
    assert "Not admitted" in late._repr_html_()


def test_what_is_left_is_what_is_left_for_this_analyst(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text() + "analysts: {ann: 60%, bob: 40%}\n")
    with nowiser.gateway.open(policy) as gate:
        gate.query(SUM, spend="50%", analyst="ann", anyway=True)
        with pytest.raises(Exhausted, match="share of 'ann'") as caught:
            gate.query("SELECT AVG(time) FROM visits", spend="20%", analyst="ann", anyway=True)
        assert caught.value.left == pytest.approx(0.1, abs=0.01)
        assert "--" not in caught.value.hint
        assert not gate.explain("SELECT AVG(time) FROM visits", spend="20%", analyst="ann").admitted
        assert gate.explain("SELECT AVG(time) FROM visits", spend="20%", analyst="bob").admitted
        assert gate.query("SELECT AVG(time) FROM visits", analyst="ann", **caught.value.ask, anyway=True).rows
