# Reference values for the tests of package privacy, computed with mpmath 1.3.0 at 70 decimal digits, from the
# defining formulas only (no formula of the Go code is used). Writes reference.json: [name, arguments..., value].
import json
from mpmath import *

mp.dps = 70
out = []

def Q(x): return erfc(x / sqrt(2)) / 2
def delta(m, e):
    if e == 0: return erf(m / 2 / sqrt(2))
    return Q(e / m - m / 2) - exp(e) * Q(e / m + m / 2)
def put(name, args, value): out.append([name] + [float(a) for a in args] + [nstr(value, 30, strip_zeros=False)])

def bisect(f, lo, hi, n=240):
    """root of an increasing f"""
    for _ in range(n):
        mid = (lo + hi) / 2
        if f(mid) < 0: lo = mid
        else: hi = mid
    return (lo + hi) / 2

mus = [1e-6, 1e-4, 0.01, 0.1, 0.3, 0.5, 1, 1.7, 2, 3, 5, 10, 20, 50]
for m in mus:
    for e in [0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1, 2, 5, 10, 50, 200, 1250, 3000, 1e4]:
        put("logdelta", [m, e], log(delta(mpf(m), mpf(e))))
    for d in [0.9, 0.5, 0.1, 1e-3, 1e-5, 1e-6, 1e-10, 1e-30, 1e-100, 1e-300]:
        M, D = mpf(m), mpf(d)
        if delta(M, mpf(0)) > D:
            top = M * M / 2 + M * sqrt(-2 * log(D)) + 1
            put("epsilon", [m, d], bisect(lambda e: D - delta(M, e), mpf(0), top))
    for a in [1e-300, 1e-100, 1e-20, 1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 2.0**-40]:
        z = bisect(lambda z: mpf(a) - Q(z), mpf(-10), mpf(40))
        put("tradeoff", [m, a], Q(mpf(m) - z))
for e in [0, 1e-6, 1e-3, 0.1, 0.5, 1, 3, 10, 100, 1000, 1e4]:
    for d in [0.9, 0.1, 1e-3, 1e-5, 1e-10, 1e-100, 1e-300]:
        E, D = mpf(e), mpf(d)
        # in log μ, which spans 300 decades
        u = bisect(lambda u: delta(exp(u), E) - D, log(E / 100) if e else mpf(-700), mpf(8))
        put("mu", [e, d], exp(u))
for e in [1e-9, 1e-6, 1e-3, 0.1, 0.5, 1, 1.0001, 2, 5, 10, 36, 38, 100, 500, 599, 601, 700, 1000, 1e4]:
    E = mpf(e)
    with workdps(90):
        lq = -E - log1p(exp(-E))
        z = bisect(lambda z: lq - log(Q(z)), mpf(0), sqrt(2 * E) + 2)
        put("pure", [e], 2 * z)
for r in [1e-8, 1e-4, 0.01, 0.1, 0.5, 1, 5, 50, 1000]:
    R = mpf(r)
    for d in [0.5, 0.1, 1e-3, 1e-6, 1e-10, 1e-100, 1e-300]:
        D = mpf(d)
        # stationary point of the expression in α, by its derivative computed numerically from first principles
        f = lambda a: R * a - log(a * D) / (a - 1) + log(1 - 1 / a)
        s = bisect(lambda u: R * exp(2 * u) + log1p(exp(u)) + log(D), mpf(-60), mpf(60), 240)
        a = 1 + exp(s)
        h = mpf(10) ** -30
        assert f(a) <= f(a * (1 + h)) and f(a) <= f(1 + (a - 1) * (1 - h))
        v = f(a)
        put("zcdp-epsilon", [r, d], v if v > 0 else mpf(0))
    for e in [0.01, 0.5, 1, 5, 20, 100]:
        if r > e + 20: continue  # δ is 1 to within e^-20 and α−1 vanishes
        E = mpf(e)
        f = lambda a: (a - 1) * (a * R - E) - log(a - 1) + a * log(1 - 1 / a)
        g = lambda u: (2 * exp(u) + 1) * R - E + log(1 - 1 / (1 + exp(u)))
        a = 1 + exp(bisect(g, mpf(-200), mpf(60), 240))
        h = mpf(10) ** -30
        assert f(a) <= f(a * (1 + h)) and f(a) <= f(1 + (a - 1) * (1 - h))
        put("zcdp-logdelta", [r, e], min(mpf(0), f(a)))
for x in [-30, -5, -1.5, -1, 0, 0.5, 1, 1.999, 2, 2.5, 3, 5, 8, 20, 38, 100, 1e4]:
    put("logq", [x], log(Q(mpf(x))) if x > 0 else log1p(-Q(-mpf(x))))

json.dump(out, open("reference.json", "w"), indent=0)
print(len(out))
