"""Digests of totals are part of every entry, so they may never come out differently."""

from hypothesis import given, settings, strategies as st

from nowiser.ledger.chain import Totals, canonical, charge_of, digest, text_of
from nowiser.model.charge import Account, Charge, to_json

accounts = st.builds(Account, st.sampled_from(["slope", "jump", "delta"]), st.tuples(st.text(max_size=5)))
charges = st.dictionaries(accounts, st.integers(0, 10**30), max_size=3).map(Charge.of)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=8), charges, max_size=4))
def test_the_digest_of_totals_is_that_of_their_canonical_json(scopes):
    whole = canonical({scope: to_json(charge) for scope, charge in scopes.items()})
    assert Totals(scopes).digest() == digest(whole.encode("utf-8"))


@settings(deadline=None)
@given(charges)
def test_a_charge_comes_back_from_its_text(charge):
    assert charge_of(text_of(charge)) == charge
