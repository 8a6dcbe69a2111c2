"""How long it takes: ratios to named peers of the same run.

Usage: ``python -m benchmarks.speed.speed`` (all; twenty minutes of one core), or with
the names of groups: ``scorers searches text estimators intervals`` (``headline``: the
default prior's part of ``searches``). ``--fast`` takes few and small rows. Writes a
table ``results/speed/<group>.csv`` each.

Times are processor seconds of one thread, medians of several runs in which the sides
take turns, and ratios are medians of those of each run: a busy machine troubles all
sides alike. A ratio below 1 means that skauc is faster. ``to_training`` is the ratio to
the same search scored by ``roc_auc`` on its training rows, which is to be at most 1.1.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one thread is one clock

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import skauc
from benchmarks.tools.runs import parser, read
from benchmarks.tools.table import write_table

TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
HEADLINE = (  # rows, features, largest share of 5-fold CV that is aimed at
    (100, 20, 0.25),
    (400, 30, 0.25),
    (5_000, 50, 0.25),
    (20_000, 50, 0.28),
    (60, 2_000, 0.29),
    (200, 5_000, 0.33),
    (2_000, 1_000, 1 / 3),
)
SQUARE = (  # about as many features as rows
    (200, 150, 1 / 3),
    (400, 300, 1 / 3),
    (500, 1_000, 0.4),
    (1_000, 300, 1 / 3),
    (5_000, 500, 0.25),
)
RIDGE = LogisticRegression(max_iter=5_000)


@dataclass(frozen=True)
class Case:
    """One line of a table of ratios.

    ``shape`` is that of X, ``goal`` the largest ratio that is aimed at (NaN: none), and
    ``training`` the same search, scored on its training rows.
    """

    what: str
    peer: str
    shape: tuple
    ours: Callable
    theirs: Callable
    goal: float = np.nan
    repeats: int = 5
    training: Callable | None = None

    def row(self) -> dict:
        """The case, measured."""
        sides = [side for side in (self.ours, self.theirs, self.training) if side]
        times = np.maximum(seconds(*sides, repeats=self.repeats), 1e-9)
        own, other, *_ = np.median(times, axis=0)
        ratio, training, *_ = *np.median(times[:, :1] / times[:, 1:], axis=0), np.nan
        row = {"what": self.what, "peer": self.peer}
        row |= {"n": self.shape[0], "P": self.shape[1]}
        row |= {"seconds": own, "peer_seconds": other, "ratio": ratio}
        return row | {"goal": self.goal, "to_training": training}


def seconds(*functions: Callable, repeats: int) -> np.ndarray:
    """Processor times (repeats, k) of k functions; they run in turn."""
    times = np.empty((repeats, len(functions)))
    for row in times:
        for k, function in enumerate(functions):
            start = process_time()
            function()
            row[k] = process_time() - start
    return times


def from_empty_cache(function, *arguments):
    """Call a function that pays for everything that is kept about a data set."""
    skauc.clear_cache()
    function(*arguments)


def scorers(fast):
    """A data set's first and later scores; EBAUC of scores."""
    rng = np.random.default_rng(0)
    sizes = [(2_000, 20)] if fast else [(5_000, 50), (100_000, 200), (20_000, 2_000)]
    options = [{"prior": "paper", "covariance": kind}
               for kind in ("common", "separate")]  # fmt: skip
    for n, P in sizes:
        X, y = rng.standard_normal((n, P)), rng.integers(0, 2, n)
        model = LogisticRegression().fit(X, y)
        product = partial(np.matmul, X, model.coef_[0])
        for how in (*options, {"prior": "adaptive"}):
            scorer = skauc.make_cbauc_scorer(**how)
            scorer(model, X, y)  # what is computed once a data set is not a candidate's
            prior, *covariance = how.values()
            what = ", ".join([f"cbauc_scorer, {prior} prior", *covariance, "later"])
            yield Case(what, "X @ w", X.shape, partial(scorer, model, X, y), product, 3)
        what = "cbauc_scorer, adaptive prior, first"
        first = partial(from_empty_cache, skauc.cbauc_scorer, model, X, y)
        gram = partial(np.matmul, X.T, X)
        yield Case(what, "X.T @ X", X.shape, first, gram, repeats=2)
    for n in (1_000,) if fast else (10_000, 1_000_000):
        y = rng.integers(0, 2, n)
        score = y + rng.standard_normal(n)
        ours = partial(skauc.ebauc_score, y, score, prior="paper")
        sides = ours, partial(roc_auc_score, y, score)
        what = "ebauc_score, thresholds=scores"
        yield Case(what, "roc_auc_score", (n, 1), *sides, repeats=3)


def headline(fast):
    """Searches with the default prior: the sizes of the gate, L1 and hinge."""
    rng, points = np.random.default_rng(1), 3 if fast else 25
    lasso = LogisticRegression(l1_ratio=1, solver="liblinear", max_iter=1_000)
    hinge = LinearSVC(loss="hinge", dual=True, max_iter=5_000, random_state=0)
    for n, P, goal in HEADLINE[:1] if fast else HEADLINE:
        grid = np.logspace(-4, 4, points)
        yield _search(RIDGE, "ridge", grid, _signal(n, P, rng), goal)
    rows = _signal(100, 20 if fast else 400, rng)
    yield _search(lasso, "L1", np.logspace(-1.25, 1.25, points), rows, 0.35)
    yield _search(hinge, "hinge", np.logspace(-4, 1, points), rows, 0.35)


def searches(fast):
    """A whole search, its data set included, against 5-fold CV over the same grid."""
    yield from headline(fast)
    rng, grid = np.random.default_rng(1), np.logspace(-4, 4, 3 if fast else 25)
    for n, P, goal in () if fast else SQUARE:
        yield _search(RIDGE, "ridge", grid, _signal(n, P, rng), goal)
    for n, P, goal in HEADLINE[:1] if fast else HEADLINE + SQUARE:
        yield _search(RIDGE, "ridge", grid, _signal(n, P, rng), goal, "paper")


def _signal(n, P, rng):
    """Rows whose class depends on their first five features."""
    X = rng.standard_normal((n, P))
    return X, (X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 0).astype(int)


def _search(model, name, C, rows, goal, prior="adaptive"):
    """A search over C."""
    what = f"GridSearchCV, {len(C)} C, {name}, {prior} prior"
    pipe = make_pipeline(StandardScaler(), model)
    return _against_folds(what, pipe, {f"{pipe.steps[-1][0]}__C": C}, rows, goal, prior)


def _against_folds(what, model, grid, rows, goal, prior="adaptive", **how):
    """A search of each kind; ours pays for what is kept about its data set."""
    scorer, split = skauc.make_cbauc_scorer(prior=prior), skauc.ResubstitutionSplit()
    ours, peer, how["training"] = (
        partial(GridSearchCV(model, grid, scoring=scoring, cv=cv).fit, *rows)
        for scoring, cv in ((scorer, split), ("roc_auc", 5), ("roc_auc", split))
    )
    sides = rows[0].shape, partial(from_empty_cache, ours), peer
    return Case(what, "GridSearchCV cv=5", *sides, goal, **how)


def text(fast):
    """A search on sparse text, its data set included, against 5-fold CV."""
    rng = np.random.default_rng(2)
    sizes = ((200, 2_000),) if fast else ((500, 50_000), (2_000, 50_000))
    C = np.logspace(-2, 2, 3 if fast else 25)
    for n, P in sizes:
        X, y = text_rows(n, P, rng)
        for model, grid in (
            (LogisticRegression(max_iter=1_000), {"C": C}),
            (LinearSVC(), {"C": C}),
            (SGDClassifier(random_state=0), {"alpha": 1e-3 / C}),
            (SGDClassifier(loss="log_loss", random_state=0), {"alpha": 1e-3 / C}),
        ):
            loss = f", {model.loss}" if hasattr(model, "loss") else ""
            what = f"GridSearchCV, {len(C)} penalties, {type(model).__name__}{loss}"
            yield _against_folds(what, model, grid, (X, y), 1 / 1.5, repeats=1)


def text_rows(n, P, rng):
    """Tf-idf of 80 words a row in Zipf frequencies, 600 of them by class."""
    y, usual = np.arange(n) % 2, 1 / (np.arange(P) + 10.0)
    told = np.exp(rng.standard_normal(P) * (rng.permutation(P) < 600))
    words = np.empty((n, 80), dtype=np.int32)  # liblinear takes no longer indices
    for label, share in enumerate((usual, usual * told)):
        size = (np.count_nonzero(y == label), 80)
        words[y == label] = rng.choice(P, size, p=share / share.sum())
    place = np.repeat(np.arange(n, dtype=np.int32), 80), words.ravel()
    counts = sparse.csr_array((np.ones(words.size), place), shape=(n, P))
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts), y


def estimators(fast):
    """The estimators against one product, and against scikit-learn."""
    scale = 100 if fast else 1
    yield from _gaussian(scale)
    yield from _logistic(scale)
    yield from _discriminant(scale)


def _fits(what, peer_name, model, peer, X, y, goal, repeats=5):
    """One fit of each of two estimators."""
    fits = partial(model.fit, X, y), partial(peer.fit, X, y)
    return Case(what, peer_name, X.shape, *fits, goal, repeats)


def _gaussian(scale):
    """Against one product, and a path of shrinkages against one value."""
    rng = np.random.default_rng(0)
    plain = skauc.GaussianAUCClassifier()
    for n, P in ((200_000, 50), (200_000, 100), (20_000, 200)):
        X = rng.standard_normal((n // scale, P))
        y = (rng.random(len(X)) < 0.4).astype(int)
        ours, gram = partial(plain.fit, X, y), partial(np.matmul, X.T, X)
        what = "GaussianAUCClassifier, closed form"
        yield Case(what, "X.T @ X", X.shape, ours, gram, 1.1, 9)


def _logistic(scale):
    """Each with the loosest tolerance that comes within 1e-9 of the optimum."""
    rng = np.random.default_rng(1)
    sizes = (200_000, 50, 2, 0.6), (20_000, 200, 2, 1), (50_000, 40, 5, 0.6)
    theirs = partial(LogisticRegression, C=np.inf, solver="newton-cholesky")
    for n, P, K, goal in sizes:
        X = rng.standard_normal((n // min(scale, 10), P))
        logits = X @ (rng.standard_normal((P, K)) * 0.3)
        y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        best = skauc.IRLSLogisticRegression(tol=1e-10).fit(X, y)
        optimum = log_loss(y, best.predict_proba(X))
        model = within_gap(skauc.IRLSLogisticRegression, X, y, optimum)
        peer = within_gap(theirs, X, y, optimum)
        what = f"IRLSLogisticRegression, K = {K}, tol {model.tol:g}"
        name = f"newton-cholesky, tol {peer.tol:g}"
        yield _fits(what, name, model, peer, X, y, goal)


def within_gap(make, X, y, optimum):
    """The estimator with the loosest tolerance that reaches the optimum to 1e-9."""
    for tol in TOLERANCES:
        model = make(tol=tol).fit(X, y)
        if log_loss(y, model.predict_proba(X)) - optimum <= 1e-9 * abs(optimum):
            return make(tol=tol)
    raise RuntimeError(f"{make(tol=0)} does not come within 1e-9 of the optimum")


def _discriminant(scale):
    """Against the class that it inherits from."""
    rng = np.random.default_rng(2)
    for n, P, K in ((50_000, 50, 2), (50_000, 50, 5)):
        X = rng.standard_normal((n // scale, P))
        y = rng.integers(0, K, len(X))
        for solver, repeats in (("svd", 3), ("lsqr", 7)):
            ours = skauc.LinearDiscriminantROC(solver=solver)
            peer = LinearDiscriminantAnalysis(solver=solver)
            what = f"LinearDiscriminantROC, {solver}, K = {K}"
            yield _fits(what, "its parent", ours, peer, X, y, 1.02, repeats)


def intervals(fast):
    """AUC, DeLong interval and test; peers that are not installed are left out."""
    rng = np.random.default_rng(0)
    for n in (1_000,) if fast else (1_000, 100_000, 1_000_000):
        y, repeats = (rng.random(n) < 0.3).astype(int), 3 if n > 100_000 else 7
        a, b = (1 / (1 + np.exp(-rng.standard_normal(n) - y)) for _ in range(2))
        yield from _points(n, y, a, repeats)
        delong, paired = partial(_interval, method="delong"), skauc.compare_auc
        for what, module, function, ours, scores in (
            ("AUC", "sklearn.metrics", "roc_auc_score", skauc.auc_estimate, (a,)),
            ("DeLong interval", "confidenceinterval", "roc_auc_score", delong, (a,)),
            ("paired DeLong test", "MLstatkit", "Delong_test", paired, (a, b)),
        ):
            try:
                peer = getattr(import_module(module), function)
            except ImportError:
                continue
            sides = partial(ours, y, *scores), partial(peer, y, *scores)
            yield Case(what, module, (n, 1), *sides, 1, repeats=repeats)


def _interval(y, score, **how):
    """Interval of the AUC."""
    return skauc.auc_estimate(y, score).confidence_interval(**how)


def _points(n, y, a, repeats):
    """A partial area and a thousand operating points, with their intervals."""
    grid, how = np.linspace(0.01, 0.99, 1000), {"repeats": repeats}

    def area():
        skauc.auc_estimate(y, a).partial_auc(fpr=(0, 0.1)).confidence_interval()

    def points():
        skauc.operating_points(y, a, threshold=grid).confidence_interval(
            name="sensitivity"
        )

    sides = "partial AUC with its interval", "auc_estimate with its interval"
    yield Case(*sides, (n, 1), area, partial(_interval, y, a), **how)
    sides = "1000 operating points with an interval", "sklearn.metrics.roc_curve"
    yield Case(*sides, (n, 1), points, partial(roc_curve, y, a), **how)


GROUPS = (scorers, headline, searches, text, estimators, intervals)
GROUPS = {group.__name__: group for group in GROUPS}


def main(argv=None):
    """Run the groups that are requested and write their tables."""
    command = parser(__doc__)
    command.add_argument("groups", nargs="*", help=", ".join(GROUPS))
    arguments = read(command, argv, "speed")
    warnings.simplefilter("ignore")  # noise is timed, which is no model to be trusted
    for name in arguments.groups or [name for name in GROUPS if name != "headline"]:
        if name not in GROUPS:
            command.error(f"groups must be among {[*GROUPS]}, got {name!r}")
        rows = [case.row() for case in GROUPS[name](arguments.fast)]
        write_table(name, rows, arguments.out)


if __name__ == "__main__":
    main()
