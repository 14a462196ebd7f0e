"""Random programs of the language, and what they really lose: Python runs them on every number their noise can be."""

import math
import random
from itertools import product

SCALES = ("1", "2", "1/2", "3/2")
REACH = 12  # noise further away is counted as lost


class Writer:
    """One program. `private` is a number or a list of one or two."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.listed = self.draw.random() < 0.4
        self.noises = self.coins = 0
        self.names = ["s", "c"] if self.listed else ["x"]

    def text(self):
        kind = "d: list[int]" if self.listed else "x: int"
        lines = [f"def f({kind}, eps, T=1):"]
        if self.listed:
            lines += ["    s = 0", "    c = 0", "    out = []", "    for x in d:"]
            self.names.append("x")
            lines += [f"        {line}" for line in self.block(2)]
            if self.draw.random() < 0.5:
                lines.append(f"        out.append({self.number()})")
            self.names.remove("x")
            lines += [f"    {line}" for line in self.block(1)]
            result = self.draw.choice(["out", "[out, s]", "s", "c"])
        else:
            lines += [f"    {line}" for line in self.block(3)]
            result = self.result()
        return "\n".join([*lines, f"    return {result}", ""])

    def block(self, most):
        return [line for _ in range(self.draw.randint(1, most)) for line in self.statement()]

    def statement(self):
        what = self.draw.random()
        if what < 0.4:
            return [self.assignment()]
        if what < 0.7:
            found = [f"if {self.condition()}:", f"    {self.inner()}"]
            return [*found, "else:", f"    {self.inner()}"] if self.draw.random() < 0.5 else found
        if what < 0.8 and not self.listed:
            return [f"if {self.condition()}:", f"    return {self.result()}"]
        return [self.assignment(noisy=True)]

    def inner(self):
        return self.assignment() if self.draw.random() < 0.8 else "pass"

    def assignment(self, *, noisy=False):
        value = self.noise() if noisy else self.number()
        if self.listed:
            name = self.draw.choice(["s", "c"])
            return f"{name} {self.draw.choice(['=', '+='])} {value}"
        name = self.draw.choice("yz")
        line = f"{name} = {value}"
        if name not in self.names:
            self.names.append(name)
            return line if noisy else f"{name} = {value}"
        return line

    def noise(self):
        if self.noises >= (1 if self.listed else 2):
            return self.number()
        self.noises += 1
        kind = self.draw.choice(["discrete_laplace", "discrete_laplace", "discrete_laplace", "geometric"])
        return f"{self.number()} + {kind}({self.draw.choice(SCALES)}/eps)"

    def number(self):
        name = self.draw.choice(self.names)
        return self.draw.choice(
            [
                name,
                f"{self.draw.choice([2, -1, 1])}*{name} + {self.draw.choice([0, 1, -1])}",
                f"{name} - {self.draw.choice(self.names)}",
                f"min(max({name}, 0), 1)",
                f"max({name}, T)",
                f"abs({name})",
                str(self.draw.choice([0, 1, 2])),
                f"(1 if {self.condition()} else 0)",
            ]
        )

    def condition(self):
        what = self.draw.random()
        if what < 0.15 and self.coins < 2:
            self.coins += 1
            return f"flip({self.draw.choice(['1/2', '1/3', '3/4'])})"
        a, b = self.draw.choice(self.names), self.draw.choice([*self.names, "0", "1", "T"])
        plain = f"{a} {self.draw.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if what < 0.3:
            return f"not {plain}"
        if what < 0.45:
            c = f"{self.draw.choice(self.names)} > {self.draw.choice('012')}"
            return f"{plain} {self.draw.choice(['and', 'or'])} {c}"
        return plain

    def result(self):
        a, b = self.draw.choice(self.names), self.draw.choice(self.names)
        return self.draw.choice([a, a, f"[{a}, {b}]", f"({a}, 1)", self.condition(), f"[{self.condition()}, {a}]", "1"])


def chances(text, value, far=REACH):
    """Output → probability at ε = 1, and what is lost because noise ends so far away. Python follows the program."""
    reach = {}
    told, weight, widths, at = [], [1.0], [], [0]

    def take(values):
        if at[0] == len(told):
            told.append(0)
            widths.append(len(values))
        chosen, chance = values[told[at[0]]]
        at[0] += 1
        weight[0] *= chance
        return chosen

    def two_sided(scale):
        q = math.exp(-1 / scale)
        return take([(k, (1 - q) / (1 + q) * q ** abs(k)) for k in range(-far, far + 1)])

    def one_sided(scale):
        q = math.exp(-1 / scale)
        return take([(k, (1 - q) * q**k) for k in range(far + 1)])

    def coin(p):
        return take([(True, p), (False, 1 - p)])

    reach |= {"discrete_laplace": two_sided, "geometric": one_sided, "flip": coin}
    exec(text, reach)
    found = {}
    while True:
        at[0], weight[0] = 0, 1.0
        output = repr(reach["f"](list(value) if isinstance(value, tuple) else value, 1))
        found[output] = found.get(output, 0.0) + weight[0]
        del told[at[0] :], widths[at[0] :]
        while told and told[-1] == widths[-1] - 1:
            told.pop()
            widths.pop()
        if not told:
            return found, 1 - sum(found.values())
        told[-1] += 1


def inputs(*, listed):
    """Pairs of neighbours: one number changes by one."""
    if not listed:
        return [(x, x + 1) for x in range(-2, 3)]
    every = [values for n in (1, 2) for values in product((-1, 0, 1, 2), repeat=n)]
    return [(d, (*d[:i], d[i] + 1, *d[i + 1 :])) for d in every[:14] for i in range(len(d)) if d[i] < 2]


def loses_more(text, epsilon, *, listed):
    """Two inputs between which the program loses more than this, by summing over all outputs; None if it does not."""
    known = {}
    for pair in inputs(listed=listed):
        for value in pair:
            if value not in known:
                known[value] = chances(text, value)
        for a, b in (pair, pair[::-1]):
            (p, _), (q, lost) = known[a], known[b]
            over = sum(max(0.0, c - math.exp(epsilon) * q.get(o, 0.0)) for o, c in p.items())
            if over > math.exp(epsilon) * lost + 1e-9:
                return a, b
    return None


def loops(seed):
    """A program with one loop over its list, counters, truth values and noise in the loop; how it loops; neighbours."""
    draw = random.Random(seed)
    how = draw.choice(["for x in d:", "for x in d:", "for i in range(len(d)):", "while i < len(d):"])
    x = "x" if how.startswith("for x") else "d[i]"
    simple = [
        f"s += {x}",
        f"s = {x}",
        f"s += min(max({x}, 0), 1)",
        f"s += {x} - p",
        f"p = {x}",
        "c += 1",
        "c = 1 - c",
        "b = c >= 2",
        "b = not b",
        "b = True",
        "s += c",
        "t = s + discrete_laplace(1/(2*eps))",
        f"t = {x} + discrete_laplace(1/(2*eps))",
        f"out.append({x} + discrete_laplace(1/(2*eps)))",
        "out.append(t)",
        "out.append(c)",
        "out.append(b)",
        "out.append(t > 0)",
    ]
    tests = ["c >= 2", "b", "not b", f"{x} > 0", "t > 1", "s > 1", "flip(1/3)"]
    lines = [f"{n} = {v}" for n, v in (("s", 0), ("p", 0), ("c", 0), ("t", 0), ("i", 0), ("b", False), ("out", []))]
    lines.append(how)
    noises = 0
    for _ in range(draw.randint(1, 3)):
        line = draw.choice(simple)
        if "laplace" in line:
            noises += 1
            line = line if noises == 1 else "c += 1"
        if draw.random() < 0.35:
            lines += [f"    if {draw.choice(tests)}:", f"        {draw.choice([line, line, line, 'break'])}"]
        else:
            lines.append(f"    {line}")
    if how.startswith("while"):
        lines.append("    i += 1")
    result = draw.choice(
        ["[out, s + discrete_laplace(1/eps)]", "[out, c]", "[b, out]", "out", "[t, out]", "s + discrete_laplace(1/eps)"]
    )
    body = "".join(f"    {line}\n" for line in [*lines, f"return {result}"])
    return f"def f(d: list[int], eps):\n{body}", draw.choice(["one", "one", "all", "length"])


def loses_more_in_loops(text, epsilon, neighbours):
    """As `loses_more`, for lists of up to three 0s and 1s."""
    every = [d for n in range(1, 4) for d in product((0, 1), repeat=n)]
    known = {}
    for a, b in product(every, repeat=2):
        if not _neighbours(a, b, neighbours):
            continue
        for value in (a, b):
            if value not in known:
                known[value] = chances(text, value, 5)
        (p, _), (q, lost) = known[a], known[b]
        over = sum(max(0.0, c - math.exp(epsilon) * q.get(o, 0.0)) for o, c in p.items())
        if over > math.exp(epsilon) * lost + 1e-9:
            return a, b
    return None


def _neighbours(a, b, kind):
    if kind == "length":
        short, long = sorted((a, b), key=len)
        return len(long) == len(short) + 1 and any(short == long[:i] + long[i + 1 :] for i in range(len(long)))
    differ = sum(x != y for x, y in zip(a, b, strict=True)) if len(a) == len(b) else 0
    return differ == 1 or (differ > 1 and kind == "all")
