"""Two generators of synthetic rows, to be attacked: a tree of dependent pairs, and decision trees with small leaves."""

import numpy as np
import pyarrow as pa
from scipy.sparse.csgraph import minimum_spanning_tree

from nowiser.microdata.table.micro_table import MicroTable


def chow_liu(table, random):
    """Chow and Liu 1968: the tree of columns with the largest mutual information; rows drawn from its own frequencies."""
    codes, sizes, labels = coded(table)
    n, width = codes.shape
    told = np.zeros((width, width))
    for i in range(width):
        for j in range(i):
            both = joint(codes, sizes, i, j) / n
            a, b = both.sum(axis=1, keepdims=True), both.sum(axis=0, keepdims=True)
            where = both > 0
            told[i, j] = (both[where] * np.log(both[where] / (a @ b)[where])).sum()
    tree = minimum_spanning_tree(-(told + 1e-9)).toarray() != 0
    linked, new = tree | tree.T, np.zeros_like(codes)
    order, parent = [0], {0: None}
    for here in order:
        for there in np.flatnonzero(linked[here]).tolist():
            if there not in parent:
                parent[there] = here
                order.append(there)
    for column in order:
        if parent[column] is None:
            new[:, column] = random.choice(codes[:, column], n)
            continue
        chance = np.cumsum(joint(codes, sizes, parent[column], column).astype(float), axis=1)
        chance /= chance[:, -1:]
        new[:, column] = (random.random(n)[:, None] > chance[new[:, parent[column]]]).sum(axis=1)
    return named(new, labels)


def cart(table, random, leaf=5):
    """Reiter 2005: each column by a decision tree on those before it; a value is drawn from the rows of its leaf."""
    from sklearn.tree import DecisionTreeClassifier

    codes, _, labels = coded(table)
    n, width = codes.shape
    new = np.zeros_like(codes)
    new[:, 0] = random.choice(codes[:, 0], n)
    for k in range(1, width):
        seed = int(random.integers(2**31))
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed).fit(codes[:, :k], codes[:, k])
        at, asked = tree.apply(codes[:, :k]), tree.apply(new[:, :k])
        order = np.argsort(at, kind="stable")
        start = np.searchsorted(at[order], asked)
        many = np.searchsorted(at[order], asked, side="right") - start
        new[:, k] = codes[order[start + (random.random(n) * many).astype(int)], k]
    return named(new, labels)


def coded(table):
    found = [np.unique(np.array(c.labels, object)[c.codes].astype(str), return_inverse=True) for c in table.columns]
    names = [(c.name, labels) for c, (labels, _) in zip(table.columns, found, strict=True)]
    return np.column_stack([codes for _, codes in found]), [len(labels) for labels, _ in found], names


def joint(codes, sizes, i, j):
    at = codes[:, i] * sizes[j] + codes[:, j]
    return np.bincount(at, minlength=sizes[i] * sizes[j]).reshape(sizes[i], sizes[j])


def named(codes, labels):
    columns = {}
    for k, (name, values) in enumerate(labels):
        texts = values[codes[:, k]]
        try:
            columns[name] = texts.astype(np.int64)
        except ValueError:
            columns[name] = texts
    return MicroTable.from_arrow(pa.table(columns))
