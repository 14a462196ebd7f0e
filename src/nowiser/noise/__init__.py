"""Mechanisms and exact samplers; entropy enters by argument. No float ever decides a distribution."""

from nowiser.noise.discrete_laplace import discrete_laplace
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.exponential import Choice, exponential
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.noise.noisy_max import noisy_max
from nowiser.noise.randomised_response import RandomisedResponse, randomised_response
from nowiser.noise.rounded_gaussian import rounded_gaussian

__all__ = [
    "OS",
    "Choice",
    "Entropy",
    "Gaussian",
    "Laplace",
    "RandomisedResponse",
    "discrete_laplace",
    "exponential",
    "noisy_max",
    "randomised_response",
    "rounded_gaussian",
]
