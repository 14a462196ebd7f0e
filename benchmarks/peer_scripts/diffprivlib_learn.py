"""diffprivlib's models on Adult: what they reach on new rows, and processor seconds; bounds are given, not read."""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import KMeans, LinearRegression, LogisticRegression, RandomForestClassifier
from sklearn.cluster import KMeans as Usual
from sklearn.metrics import roc_auc_score

warnings.filterwarnings("ignore")
arguments = json.loads(sys.argv[1])
with np.load(Path(arguments["folder"]) / "rows.npz") as kept:
    t = dict(kept)
rows = []


def measured(what, measure, make, reached, fits=3):
    try:
        values, took = [], []
        for _ in range(fits):
            began = time.process_time()
            model = make()
            took.append(time.process_time() - began)
            values.append(reached(model))
        rows.append({"what": f"diffprivlib, {what}", measure: np.mean(values), "processor s": np.mean(took)})
    except Exception as error:  # a peer's own failure is its figure
        rows.append({"what": f"diffprivlib, {what}", "note": f"{type(error).__name__}: {error}"[:120]})
    print(json.dumps({"rows": rows}), flush=True)


def auc(table):
    return lambda model: roc_auc_score(t["truth"], model.predict_proba(table)[:, 1])


for epsilon in (1.0, 0.1):
    measured(
        f"logistic, ε = {epsilon:g}",
        "AUC",
        lambda e=epsilon: LogisticRegression(epsilon=e, data_norm=13**0.5, max_iter=200).fit(t["ones"], t["labels"]),
        auc(t["new_ones"]),
    )
    measured(
        f"k-means, ε = {epsilon:g}",
        "inertia, of scikit-learn's",
        lambda e=epsilon: KMeans(5, epsilon=e, bounds=(-1, 1)).fit(t["scaled"]),
        lambda m: (
            ((t["scaled"] - m.cluster_centers_[m.predict(t["scaled"])]) ** 2).sum()
            / Usual(5, n_init=10, random_state=0).fit(t["scaled"]).inertia_
        ),
    )
    measured(
        f"linear, ε = {epsilon:g}",
        "R²",
        lambda e=epsilon: LinearRegression(
            epsilon=e, bounds_X=(np.zeros(len(t["ends"])), t["ends"]), bounds_y=(0, 98)
        ).fit(t["seen"], t["hours"]),
        lambda m: m.score(t["unseen"], t["true_hours"]),
    )
    measured(
        f"forest, ε = {epsilon:g}",
        "AUC",
        lambda e=epsilon: RandomForestClassifier(
            n_estimators=16, epsilon=e, bounds=(np.zeros(len(t["tops"])), t["tops"]), classes=[0, 1], max_depth=5
        ).fit(t["numbers"], t["labels"]),
        auc(t["new_numbers"]),
    )
