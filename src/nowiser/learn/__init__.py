"""Models that leave attackers no wiser: estimators with scikit-learn's manners, for a share of an account or a ρ."""

from nowiser.learn.boosting import Boosting
from nowiser.learn.forest import RandomForest
from nowiser.learn.kmeans import KMeans
from nowiser.learn.linear import LinearRegression
from nowiser.learn.logistic import LogisticRegression
from nowiser.learn.naive_bayes import NaiveBayes
from nowiser.learn.network import Network
from nowiser.learn.pca import PCA
from nowiser.learn.saved import from_json
from nowiser.learn.scaling import QuantileBins, Standardise
from nowiser.learn.sgd import SGD
from nowiser.learn.tree import DecisionTree

MODELS = (
    "Boosting",
    "DecisionTree",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Network",
    "PCA",
    "QuantileBins",
    "RandomForest",
    "SGD",
    "Standardise",
)

__all__ = [
    "MODELS",
    "PCA",
    "SGD",
    "Boosting",
    "DecisionTree",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Network",
    "QuantileBins",
    "RandomForest",
    "Standardise",
    "from_json",
]
