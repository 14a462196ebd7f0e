"""Random small tables, hierarchies and models, and the slow truth about them."""

from itertools import product

import numpy as np

from nowiser.microdata import registry
from nowiser.microdata.groups.groups import Groups, at_bottom, groups_of, target_of
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.models.alpha_k_anonymity import AlphaKAnonymity
from nowiser.microdata.models.average_risk import AverageRisk
from nowiser.microdata.models.beta_likeness import BetaLikeness
from nowiser.microdata.models.delta_disclosure import DeltaDisclosure
from nowiser.microdata.models.distinct_l_diversity import DistinctLDiversity
from nowiser.microdata.models.enhanced_beta_likeness import EnhancedBetaLikeness
from nowiser.microdata.models.entropy_l_diversity import EntropyLDiversity
from nowiser.microdata.models.gain import Gain
from nowiser.microdata.models.highest_risk import HighestRisk
from nowiser.microdata.models.k_anonymity import KAnonymity
from nowiser.microdata.models.recursive_cl_diversity import RecursiveCLDiversity
from nowiser.microdata.models.sample_uniqueness import SampleUniqueness
from nowiser.microdata.models.t_closeness import TCloseness
from nowiser.microdata.search.problem import Node, Problem, evaluate
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def random_tree(random, values):
    """A nested hierarchy over the values, of random height, up to a root or not."""
    rows = [[v] for v in values]
    current = {v: v for v in values}
    for level in range(1, int(random.integers(1, 4))):
        labels = sorted(set(current.values()))
        up = {label: f"g{level}.{random.integers(0, max(1, len(labels) // 2 + 1))}" for label in labels}
        current = {v: up[c] for v, c in current.items()}
        for row in rows:
            row.append(current[row[0]])
    if random.random() < 0.9:
        for row in rows:
            row.append("*")
    return rows


def random_table(random, *, quasi=3, rows=40):
    columns, specs = [], {}
    for j in range(quasi):
        domain = [f"v{i}" for i in range(int(random.integers(2, 6)))]
        drawn = random.choice(len(domain), rows, p=random.dirichlet(np.ones(len(domain))))
        cells = [domain[i] if random.random() > 0.03 else None for i in drawn]
        columns.append(Column.of(f"q{j}", cells))
        specs[f"q{j}"] = random_tree(random, domain)
    values = int(random.integers(2, 6))
    secret = random.choice(values, rows, p=random.dirichlet(np.ones(values)))
    columns.append(Column.of("s", [str(10 * v) for v in secret]))
    return MicroTable.of(columns), specs


def random_models(random, table):
    u = random.random
    choices = [
        KAnonymity(k=int(random.integers(2, 6))),
        AlphaKAnonymity(about="s", alpha=0.3 + 0.6 * u(), k=int(random.integers(1, 5))),
        DistinctLDiversity(about="s", l=2),
        EntropyLDiversity(about="s", l=1 + u()),
        RecursiveCLDiversity(about="s", c=1 + 4 * u(), l=2),
        TCloseness(about="s", t=0.1 + 0.6 * u(), distance=str(random.choice(["equal", "ordered"]))),
        TCloseness(about="s", t=0.1 + 0.6 * u(), distance="hierarchical"),
        DeltaDisclosure(about="s", delta=0.5 + 2 * u(), absent=bool(u() < 0.5)),
        BetaLikeness(about="s", beta=0.5 + 3 * u()),
        EnhancedBetaLikeness(about="s", beta=0.5 + 3 * u()),
        Gain(about="s", gain=0.1 + 0.6 * u()),
        Gain(about="s", gain=0.1 + 0.6 * u(), within=10.0),
        Gain(about="s", gain=0.1 + 0.6 * u(), among=table["s"].labels[:1]),
        Gain(about="s", gain=0.1 + 0.6 * u(), knows=1),
        HighestRisk(risk=0.2 + 0.5 * u()),
        AverageRisk(risk=0.1 + 0.3 * u()),
        SampleUniqueness(share=0.1 * u()),
    ]
    picked = random.choice(len(choices), int(random.integers(1, 4)), replace=False)
    return tuple(choices[i] for i in picked)


def problem_of(table, specs, models, loss, suppress) -> Problem:
    trees = tuple(hierarchy(table[n], spec) for n, spec in specs.items())
    tree = hierarchy(table["s"], [[label, "low" if float(label) < 20 else "high", "*"] for label in table["s"].labels])
    base = at_bottom(groups_of(table, tuple(specs), [target_of(table, "s", tree)]), trees)
    return Problem(trees, base, models, registry.losses()[loss].bind(trees, base), suppress)


def slow_groups(problem: Problem, table: MicroTable, names, levels) -> Groups:
    """Groups at a node, recoded row by row and counted from scratch."""
    columns = []
    for name, tree, level in zip(names, problem.hierarchies, levels, strict=True):
        labels = [tree.labels[level][tree.matrix[code, level]] for code in table[name].codes]
        place = {label: i for i, label in enumerate(tree.labels[level])}
        columns.append([place[label] for label in labels])
    rows = list(zip(*columns, strict=True))
    distinct = sorted(set(rows))
    target, _ = problem.base.target("s")
    size = np.array([rows.count(d) for d in distinct], dtype=np.int64)
    histogram = np.zeros((len(distinct), len(target.totals)), np.int32)
    for row, code in zip(rows, table["s"].codes, strict=True):
        histogram[distinct.index(row), code] += 1
    return Groups(np.array(distinct, dtype=np.int32), size, (histogram,), (target,), rows=table.rows)


def brute_force(problem: Problem, table: MicroTable, names) -> Node | None:
    """The best node, by looking at every one."""
    best = None
    for levels in product(*(range(h + 1) for h in problem.heights)):
        node = evaluate(problem, levels, slow_groups(problem, table, names, levels))
        if node is not None and (best is None or node.loss < best.loss):
            best = node
    return best
