"""No simulated Bayes-optimal attack on a real mechanism beats the reported ceiling."""

import numpy as np
import pytest

import nowiser as nw

VALUES = np.arange(0.0, 21.0)
PRIOR = np.exp(-((VALUES - 8) ** 2) / 40)
PRIOR = PRIOR / PRIOR.sum()


def posterior(likelihoods, inside):
    """Largest posterior of the goal over all outputs; one row of likelihoods per output."""
    weights = likelihoods * PRIOR
    return float((weights[:, inside].sum(axis=1) / weights.sum(axis=1)).max())


@pytest.mark.parametrize("slope", [0.1, 0.7, 2.5])
@pytest.mark.parametrize("x", [0.0, 8.0, 19.0])
def test_mechanisms_with_a_slope(slope, x):
    radius, k = 2.0, slope / 2.0
    inside = np.abs(VALUES - x) <= radius
    ceiling = nw.guess(nw.Atoms(VALUES, PRIOR), nw.Within(radius), slope=slope, victim=x)
    outputs = np.linspace(-40, 60, 4001)
    distance = np.abs(outputs[:, None] - VALUES)
    laplace = posterior(np.exp(-k * distance), inside)
    whole = np.abs(np.arange(-40, 61)[:, None] - VALUES)
    geometric = posterior(np.exp(-k * whole), inside)
    # exponential mechanism with utility −|output − x| and the factor 2 that its proof needs
    scores = np.exp(-k * np.abs(VALUES[:, None] - VALUES) / 2)
    exponential = posterior(scores / scores.sum(axis=0), inside)
    for attack in (laplace, geometric, exponential):
        assert attack <= ceiling.after + 1e-12
    assert laplace == pytest.approx(ceiling.after, abs=5e-3)  # and Laplace comes close: the ceiling is not idle


@pytest.mark.parametrize("jump", [0.2, 1.0, 3.0])
def test_randomised_response(jump):
    labels = np.array([0.5, 0.3, 0.2])
    ceiling = nw.guess(nw.Categories({"a": 0.5, "b": 0.3, "c": 0.2}), nw.Exactly(), jump=jump, victim="b")
    likelihood = np.where(np.eye(3, dtype=bool), np.exp(jump), 1.0)
    weights = likelihood * labels
    found = (weights[:, 1] / weights.sum(axis=1)).max()
    assert found <= ceiling.after + 1e-15
    assert found == pytest.approx(ceiling.after, abs=1e-12)


def test_a_simulated_attack_stays_below_within_its_sampling_error():
    """Draw victims and Laplace outputs; among the outputs that convince most, the guess is right no more often."""
    rng = np.random.default_rng(11)
    slope, radius, x, n = 1.0, 2.0, 20.0, 400_000
    values = rng.uniform(12, 28, n)
    outputs = values + rng.laplace(0, radius / slope, n)
    ceiling = nw.guess(nw.Uniform(12, 28), nw.Within(radius), slope=slope, victim=x)
    convinced = np.abs(outputs - x) < 0.25
    hits = np.abs(values[convinced] - x) <= radius
    error = 5 * np.sqrt(hits.var() / hits.size)
    assert hits.mean() <= ceiling.after + error
    assert hits.mean() >= ceiling.after - 0.02  # the attack is a real one
