"""Models that leave attackers no wiser: estimators with scikit-learn's manners, paid from a policy's account or by ρ."""

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

__all__ = [*MODELS, "from_json"]
