"""The programs of the table of expected verdicts: text, neighbours, further options of `verify`, verdict, least ε."""

LAPLACE = "def f(x, eps):\n    return x + laplace(1/eps)\n"
MEAN = "def f(d, eps):\n    return sum(d)/len(d) + laplace(1/(len(d)*eps))\n"
EACH_SUM = """
def f(d, eps):
    s = 0
    out = []
    for x in d:
        s += x
        out.append(s + laplace(1/eps))
    return out
"""
EACH_ELEMENT = """
def f(d, eps):
    s = 0
    out = []
    for x in d:
        s += x + laplace(1/eps)
        out.append(s)
    return out
"""
HISTOGRAM = "def f(d, eps):\n    return [x + laplace(1/eps) for x in d]\n"
TOTAL = "def f(d, eps):\n    return sum(d) + laplace(1/eps)\n"
SMART_SUM = """
def f(q, eps, M):
    out = []
    next = 0
    s = 0
    i = 0
    while i < len(q):
        if (i + 1) % M == 0:
            next = s + q[i] + laplace(1/eps)
            s = 0
        else:
            next = next + q[i] + laplace(1/eps)
            s = s + q[i]
        out.append(next)
        i += 1
    return out
"""
SPARSE = """
def f(q, eps, T, N):
    t = T + laplace(2/eps)
    out = []
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + laplace(4*N/eps) >= t:
            out.append(True)
            count += 1
        else:
            out.append(False)
        i += 1
    return out
"""
GAP = """
def f(q, eps, T, N):
    t = T + laplace(2/eps)
    out = []
    count = 0
    for x in q:
        v = x + laplace(4*N/eps)
        if v >= t:
            out.append(v - t)
            count += 1
            if count >= N:
                break
        else:
            out.append(0)
    return out
"""
NUMBER = """
def f(q, eps, T, N):
    t = T + laplace(3/eps)
    out = []
    count = 0
    for x in q:
        if count >= N:
            break
        if x + laplace(6*N/eps) >= t:
            out.append(x + laplace(3*N/eps))
            count += 1
        else:
            out.append(False)
    return out
"""
LARGEST = """
def f(q, eps):
    best = 0
    top = q[0] + laplace(2/eps)
    for i in range(1, len(q)):
        v = q[i] + laplace(2/eps)
        if v > top:
            top = v
            best = i
    return best
"""
CLIPPED = """
def f(d, eps):
    s = 0
    for x in d:
        if x < 0:
            x = 0
        elif x > 1:
            x = 1
        s += x
    return s + laplace(1/eps)
"""
OVER = """
def f(d, eps, T):
    s = 0
    for x in d:
        if x > T:
            s += 1
    return s + laplace(1/eps)
"""
ONE_CLIP = "def f(d, eps):\n    return sum([min(x, 1) for x in d]) + laplace(1/eps)\n"
BARE = "def f(d, eps):\n    return d[0] >= 5\n"
COINS = "def f(x, eps):\n    if flip(1/2):\n        return x > 0\n    return flip(1/2)\n"
EXPONENTIAL = """
def f(x, eps):
    u = min(max(x, 0), 1)
    return choose([eps*u, eps*(1 - u), eps*(1 - u)])
"""
LARGEST_VALUE = LARGEST.replace("return best", "return top")
# six sparse vectors that were published and are wrong
NO_NOISE_ON_ANSWERS = """
def f(q, eps, T):
    t = T + laplace(2/eps)
    out = []
    for x in q:
        out.append(x >= t)
    return out
"""
NO_NOISE_ON_THRESHOLD = """
def f(q, eps, T):
    out = []
    for x in q:
        if x + laplace(2/eps) >= T:
            out.append(True)
            break
        out.append(False)
    return out
"""
NOISE_REUSED = """
def f(q, eps, T):
    noise = laplace(2/eps)
    t = T + noise
    out = []
    for x in q:
        if x + noise >= t:
            out.append(True)
            break
        out.append(False)
    return out
"""
TOO_SMALL = """
def f(q, eps, T, N=2):
    t = T + laplace(4/eps)
    out = []
    count = 0
    for x in q:
        if x + laplace(4/(3*eps)) >= t:
            out.append(True)
            count += 1
            if count >= N:
                break
        else:
            out.append(False)
    return out
"""
UNLIMITED = """
def f(q, eps, T):
    t = T + laplace(2/eps)
    out = []
    for x in q:
        out.append(x + laplace(2/eps) >= t)
    return out
"""
VALUE = """
def f(q, eps, T):
    t = T + laplace(2/eps)
    out = []
    for x in q:
        v = x + laplace(2/eps)
        if v >= t:
            out.append(v)
            break
        out.append(False)
    return out
"""

EVERY, ONE = "every length", "one number"
ANY = "one arbitrary"
# name → (text, options, for which lengths, least ε)
PROVED = {
    "Laplace mechanism": (LAPLACE, {}, ONE, "1"),
    "mean": (MEAN, {}, 6, "1"),
    "noise on each partial sum, n·ε claimed": (EACH_SUM, {"epsilon": "4*eps", "sizes": 4}, 4, "4"),
    "noise on each element": (EACH_ELEMENT, {}, EVERY, "1"),
    "histogram": (HISTOGRAM, {}, EVERY, "1"),
    "total": (TOTAL, {}, EVERY, "1"),
    "smart sum": (SMART_SUM, {"epsilon": "2*eps", "public": {"M": 3}}, EVERY, "2"),
    "sparse vector, N = 1": (SPARSE, {"neighbours": "all", "public": {"N": 1}}, EVERY, "1"),
    "sparse vector, N = 2": (SPARSE, {"neighbours": "all", "public": {"N": 2}}, EVERY, "1"),
    "sparse vector, N = 3": (SPARSE, {"neighbours": "all", "public": {"N": 3}}, EVERY, "1"),
    "sparse vector with gap": (GAP, {"neighbours": "all", "public": {"N": 1}}, EVERY, "1"),
    "sparse vector with number": (NUMBER, {"neighbours": "all", "public": {"N": 2}}, EVERY, "1"),
    "noisy max": (LARGEST, {"neighbours": "all"}, EVERY, "1"),
    "noisy max with one-sided noise": (LARGEST.replace("laplace", "exponential"), {"neighbours": "all"}, EVERY, "1"),
    "clipped sum": (CLIPPED, {"neighbours": ANY}, EVERY, "1"),
    "count over a threshold": (OVER, {"neighbours": ANY}, EVERY, "1"),
    "two coins": (COINS, {"neighbours": ANY, "epsilon": "ln(3)"}, ONE, "ln 3"),
    "exponential mechanism, 2·ε claimed": (EXPONENTIAL, {"neighbours": ANY, "epsilon": "2*eps"}, ONE, "2"),
}
REFUTED = {
    "noise on each partial sum": (EACH_SUM, {}),
    "total without a clip": (TOTAL, {"neighbours": ANY}),
    "total with a one-sided clip": (ONE_CLIP, {"neighbours": ANY}),
    "no noise": (BARE, {}),
    "noisy max with its value": (LARGEST_VALUE, {"neighbours": "all"}),
    "a quarter of the noise": (LARGEST.replace("2/eps", "1/(2*eps)"), {"neighbours": "all"}),
    "no noise on answers": (NO_NOISE_ON_ANSWERS, {"neighbours": "all"}),
    "no noise on the threshold": (NO_NOISE_ON_THRESHOLD, {"neighbours": "all"}),
    "noise reused": (NOISE_REUSED, {"neighbours": "all"}),
    "noise too small": (TOO_SMALL, {"neighbours": "all"}),
    "answers unlimited": (UNLIMITED, {"neighbours": "all"}),
    "value released": (VALUE, {"neighbours": "all"}),
    "exponential mechanism": (EXPONENTIAL, {"neighbours": ANY}),
}
UNKNOWN = {
    "a square": ("def f(x, eps):\n    return x*x + laplace(1/eps)\n", 2),
    "a scale of data": ("def f(x, eps):\n    return x + laplace(x/eps)\n", 2),
    "an unknown call": ("def f(x, eps):\n    return sqrt(x) + laplace(1/eps)\n", 2),
}
