"""Models that leave attackers no wiser: estimators with scikit-learn's manners, for a share of an account or a ρ."""

from nowiser.learn.boosting import Boosting
from nowiser.learn.forest import RandomForest
from nowiser.learn.kmeans import KMeans
from nowiser.learn.linear import LinearRegression
from nowiser.learn.logistic import LogisticRegression
from nowiser.learn.naive_bayes import NaiveBayes
from nowiser.learn.pca import PCA
from nowiser.learn.saved import from_json
from nowiser.learn.scaling import QuantileBins, Standardise
from nowiser.learn.tree import DecisionTree

MODELS = (
    "Boosting",
    "DecisionTree",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "PCA",
    "QuantileBins",
    "RandomForest",
    "Standardise",
)

__all__ = [
    "MODELS",
    "PCA",
    "Boosting",
    "DecisionTree",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "QuantileBins",
    "RandomForest",
    "Standardise",
    "from_json",
]
