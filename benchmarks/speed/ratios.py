"""What is timed against which peer: the groups of ``speed.py``."""

from __future__ import annotations

from importlib import import_module

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

from benchmarks.speed.clock import Case
from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    ResubstitutionSplit,
    auc_estimate,
    cbauc_scorer,
    clear_cache,
    compare_auc,
    ebauc_score,
    make_cbauc_scorer,
    operating_points,
)

TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


def scorers(fast):
    """A data set's first and later scores; EBAUC of scores."""
    rng = np.random.default_rng(0)
    sizes = [(2_000, 20)] if fast else [(5_000, 50), (100_000, 200), (20_000, 2_000)]
    for n, P in sizes:
        X, y = rng.standard_normal((n, P)), rng.integers(0, 2, n)
        model = LogisticRegression().fit(X, y)
        for prior, how in (
            ("paper", {"covariance": "common"}),
            ("paper", {"covariance": "separate"}),
            ("paper", {"covariance": "spherical"}),
            ("adaptive", {}),
        ):
            scorer = make_cbauc_scorer(prior=prior, **how)
            scorer(model, X, y)  # what is computed once a data set is not a candidate's
            yield Case(
                f"cbauc_scorer, {prior} prior{', '.join(['', *how.values()])}, later",
                "X @ w",
                n,
                P,
                lambda s=scorer, m=model, X=X, y=y: s(m, X, y),
                lambda X=X, w=model.coef_[0]: X @ w,
                3,
            )

        def first(m=model, X=X, y=y):
            clear_cache()
            cbauc_scorer(m, X, y)

        yield Case(
            "cbauc_scorer, adaptive prior, first",
            "X.T @ X",
            n,
            P,
            first,
            lambda X=X: X.T @ X,
            repeats=2,
        )
    for n in (1_000,) if fast else (10_000, 1_000_000):
        y = rng.integers(0, 2, n)
        score = y + rng.standard_normal(n)
        yield Case(
            "ebauc_score, thresholds=scores",
            "roc_auc_score",
            n,
            1,
            lambda y=y, s=score: ebauc_score(y, s, prior="paper"),
            lambda y=y, s=score: roc_auc_score(y, s),
            repeats=3,
        )


HEADLINE = (  # rows, features, largest share of 5-fold CV that is aimed at
    (100, 20, 0.25),
    (400, 30, 0.25),
    (5_000, 50, 0.25),
    (20_000, 50, 0.28),
    (60, 2_000, 0.29),
    (200, 5_000, 0.33),
)
SQUARE = (  # about as many features as rows
    (200, 150, 1 / 3),
    (400, 300, 1 / 3),
    (500, 1_000, 0.4),
    (1_000, 300, 1 / 3),
    (2_000, 1_000, 1 / 3),
    (5_000, 500, 0.25),
)


def headline(fast):
    """Searches with the default prior: the sizes of the gate, L1 and hinge."""
    rng, points = np.random.default_rng(1), 3 if fast else 25
    ridge = LogisticRegression(max_iter=5_000)
    lasso = LogisticRegression(l1_ratio=1, solver="liblinear", max_iter=1_000)
    hinge = LinearSVC(loss="hinge", dual=True, max_iter=5_000, random_state=0)
    for n, P, goal in HEADLINE[:1] if fast else HEADLINE:
        grid = np.logspace(-4, 4, points)
        yield _search(ridge, "ridge", grid, _signal(n, P, rng), goal)
    X, y = _signal(100, 20 if fast else 400, rng)
    yield _search(lasso, "L1", np.logspace(-1.25, 1.25, points), (X, y), 0.35)
    yield _search(hinge, "hinge", np.logspace(-4, 1, points), (X, y), 0.35)


def searches(fast):
    """A whole search, its data set included, against 5-fold CV over the same grid."""
    yield from headline(fast)
    rng, grid = np.random.default_rng(1), np.logspace(-4, 4, 3 if fast else 25)
    ridge = LogisticRegression(max_iter=5_000)
    for n, P, goal in () if fast else SQUARE:
        yield _search(ridge, "ridge", grid, _signal(n, P, rng), goal)
    for n, P, goal in HEADLINE[:1] if fast else HEADLINE + SQUARE:
        yield _search(ridge, "ridge", grid, _signal(n, P, rng), goal, "paper")


def _signal(n, P, rng):
    """Rows whose class depends on their first five features."""
    X = rng.standard_normal((n, P))
    return X, (X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 0).astype(int)


def _search(model, name, C, rows, goal, prior="adaptive"):
    """A search over C; every search pays for what is kept about its data set."""
    pipe = make_pipeline(StandardScaler(), model)
    grid = {f"{pipe.steps[-1][0]}__C": C}
    peer = GridSearchCV(pipe, grid, scoring="roc_auc", cv=5)
    scorer = make_cbauc_scorer(prior=prior)
    ours = GridSearchCV(pipe, grid, scoring=scorer, cv=ResubstitutionSplit())

    def fit():
        clear_cache()
        ours.fit(*rows)

    return Case(
        f"GridSearchCV, {len(C)} C, {name}, {prior} prior",
        "GridSearchCV cv=5",
        *rows[0].shape,
        fit,
        lambda: peer.fit(*rows),
        goal,
        repeats=3 if len(rows[0]) < 5_000 else 2,
    )


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
            peer = GridSearchCV(model, grid, scoring="roc_auc", cv=5)
            ours = GridSearchCV(
                model, grid, scoring=make_cbauc_scorer(), cv=ResubstitutionSplit()
            )

            def fit(search=ours, X=X, y=y):
                clear_cache()
                search.fit(X, y)

            yield Case(
                f"GridSearchCV, {len(C)} penalties, {type(model).__name__}"
                f"{', ' + model.loss if hasattr(model, 'loss') else ''}",
                "GridSearchCV cv=5",
                n,
                P,
                fit,
                lambda s=peer, X=X, y=y: s.fit(X, y),
                1 / 1.5,
                size=X.data.nbytes + X.indices.nbytes,
                repeats=1,
            )


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
    """The estimators against one product, scikit-learn and statsmodels."""
    scale = 100 if fast else 1
    yield from _gaussian(scale)
    yield from _logistic(scale)
    yield from _discriminant(scale)


def _gaussian(scale):
    rng = np.random.default_rng(0)
    plain = GaussianAUCClassifier(solver="closed_form")
    path = GaussianAUCClassifier(solver="closed_form", shrinkage="bayes")
    for n, P in ((200_000, 50), (200_000, 100), (20_000, 200)):
        X = rng.standard_normal((n // scale, P))
        y = (rng.random(len(X)) < 0.4).astype(int)
        yield Case(
            "GaussianAUCClassifier, closed form",
            "X.T @ X",
            *X.shape,
            lambda X=X, y=y: plain.fit(X, y),
            lambda X=X: X.T @ X,
            1.1,
            X.nbytes,
            9,
        )
    for n, P in ((20_000, 100), (200, 5_000)):
        X = rng.standard_normal((n // min(scale, 10), P))
        y = np.arange(len(X)) % 2
        peer = plain if P < len(X) else GaussianAUCClassifier(shrinkage=0.1)
        yield Case(
            'GaussianAUCClassifier, shrinkage="bayes", 100 values',
            "one value",
            *X.shape,
            lambda X=X, y=y: path.fit(X, y),
            lambda X=X, y=y, m=peer: m.fit(X, y),
            3,
            X.nbytes,
        )


def _logistic(scale):
    """Each with the loosest tolerance that comes within 1e-9 of the optimum."""
    rng = np.random.default_rng(1)
    for n, P, K, goal in (
        (200_000, 50, 2, 0.6),
        (20_000, 200, 2, 1),
        (50_000, 40, 5, 0.6),
    ):
        X = rng.standard_normal((n // min(scale, 10), P))
        logits = X @ (rng.standard_normal((P, K)) * 0.3)
        y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        best = IRLSLogisticRegression(tol=1e-10).fit(X, y)
        optimum = log_loss(y, best.predict_proba(X))

        def theirs(tol):
            return LogisticRegression(C=np.inf, solver="newton-cholesky", tol=tol)

        model = within_gap(lambda tol: IRLSLogisticRegression(tol=tol), X, y, optimum)
        peer = within_gap(theirs, X, y, optimum)
        yield Case(
            f"IRLSLogisticRegression, K = {K}, tol {model.tol:g}",
            f"newton-cholesky, tol {peer.tol:g}",
            *X.shape,
            lambda m=model, X=X, y=y: m.fit(X, y),
            lambda m=peer, X=X, y=y: m.fit(X, y),
            goal,
            X.nbytes,
        )


def within_gap(make, X, y, optimum):
    """The estimator with the loosest tolerance that reaches the optimum to 1e-9."""
    for tol in TOLERANCES:
        model = make(tol).fit(X, y)
        if log_loss(y, model.predict_proba(X)) - optimum <= 1e-9 * abs(optimum):
            return make(tol)
    raise RuntimeError(f"{make(0)} does not come within 1e-9 of the optimum")


def _discriminant(scale):
    rng = np.random.default_rng(2)
    for n, P, K in ((50_000, 50, 2), (50_000, 50, 5)):
        X = rng.standard_normal((n // scale, P))
        y = rng.integers(0, K, len(X))
        for solver in ("svd", "lsqr"):
            ours, peer = (
                kind(solver=solver)
                for kind in (LinearDiscriminantROC, LinearDiscriminantAnalysis)
            )
            yield Case(
                f"LinearDiscriminantROC, {solver}, K = {K}",
                "its parent",
                *X.shape,
                lambda m=ours, X=X, y=y: m.fit(X, y),
                lambda m=peer, X=X, y=y: m.fit(X, y),
                1.02,
                X.nbytes,
                7 if solver == "lsqr" else 3,
            )


def intervals(fast):
    """AUC, DeLong interval and test; peers that are not installed are left out."""
    rng = np.random.default_rng(0)
    for n in (1_000,) if fast else (1_000, 100_000, 1_000_000):
        y = (rng.random(n) < 0.3).astype(int)
        a, b = (1 / (1 + np.exp(-rng.standard_normal(n) - y)) for _ in range(2))
        ways = (
            ("AUC", lambda y, a, b: auc_estimate(y, a).auc, "sklearn.metrics"),
            (
                "DeLong interval",
                lambda y, a, b: auc_estimate(y, a).confidence_interval(method="delong"),
                "confidenceinterval",
            ),
            ("paired DeLong test", lambda y, a, b: compare_auc(y, a, b), "MLstatkit"),
        )
        yield from _points(n, y, a, 3 if n > 100_000 else 7)
        for what, ours, module in ways:
            theirs = _peer(module)
            if theirs is not None:
                yield Case(
                    what,
                    module,
                    n,
                    1,
                    lambda f=ours, q=(y, a, b): f(*q),
                    lambda f=theirs, q=(y, a, b): f(*q),
                    1,
                    repeats=3 if n > 100_000 else 7,
                )


def _points(n, y, a, repeats):
    """A partial area and a thousand operating points, with their intervals."""
    grid = np.linspace(0.01, 0.99, 1000)
    yield Case(
        "partial AUC with its interval",
        "auc_estimate with its interval",
        n,
        1,
        lambda: auc_estimate(y, a).partial_auc(fpr=(0, 0.1)).confidence_interval(),
        lambda: auc_estimate(y, a).confidence_interval(),
        repeats=repeats,
    )
    yield Case(
        "1000 operating points with an interval",
        "sklearn.metrics.roc_curve",
        n,
        1,
        lambda: operating_points(y, a, threshold=grid).interval("sensitivity"),
        lambda: roc_curve(y, a),
        repeats=repeats,
    )


def _peer(module):
    """What a package offers for the task, of (y, a, b); None if it is missing."""
    try:
        found = import_module(module)
    except ImportError:
        return None
    if module == "MLstatkit":
        return found.Delong_test
    return lambda y, a, b: found.roc_auc_score(y, a)


GROUPS = {
    "scorers": scorers,
    "headline": headline,
    "searches": searches,
    "text": text,
    "estimators": estimators,
    "intervals": intervals,
}
