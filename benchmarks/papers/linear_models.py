"""Linear models on real sets: hold-out AUC over repeated stratified halves.

Half of the rows train, the other half tests; features are standardised by the training
rows. The models:

- *Gaussian AUC*, ``shrinkage="auto"`` (Ledoit–Wolf) and without shrinkage;
- *logistic regression*, C = 1 (the peer) and C of five by 5-fold cross-validation;
- *LDA* with Ledoit–Wolf shrinkage, up to 1600 features: it solves a P×P system;
- *pairwise logistic*: the linear score of least ``Σ log(1 + exp(−wᵀ(x₊ − x₋)))`` plus a
  ridge (RankNet; Burges et al. 2005, https://doi.org/10.1145/1102351.1102363).

With more features than rows the penalised models are fitted in the span of the training
rows, where their solution lies. Standard errors are over sets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks.panel.real import load, real_names
from benchmarks.tools.runs import claim, resume
from skauc import GaussianAUCClassifier

SPLITS, MOST_PAIRS, WIDEST_LDA = 40, 20_000, 1600
FAST_SETS = ("breast_cancer", "wine-0-1", "pima", "sonar", "ma_alon")
PEER, AUTO, PLAIN = "logistic, C = 1", "Gaussian AUC, auto", "Gaussian AUC, plain"
TUNED, LDA, PAIRWISE = "logistic, C by CV", "LDA, Ledoit-Wolf", "pairwise logistic"
GROUPS = ("P <= n/10", "n/10 < P < n", "P >= n")


class PairwiseLogistic:
    """Logistic regression without intercept on differences ``x₊ − x₋``.

    All pairs, or a fixed sample of 20,000. Their loss is weighted as that of n rows, so
    that C means what it means for logistic regression on rows.
    """

    def fit(self, X, y):
        """Fit to a boolean mask of the positives."""
        rng, pos, neg = np.random.default_rng(0), X[y], X[~y]
        pairs = np.arange(len(pos) * len(neg))
        if len(pairs) > MOST_PAIRS:
            pairs = rng.choice(len(pairs), MOST_PAIRS, replace=False)
        gap = pos[pairs // len(neg)] - neg[pairs % len(neg)]
        sign = np.where(rng.random(len(gap)) < 0.5, 1, -1)  # two classes, same loss
        C = len(y) / len(gap)
        model = LogisticRegression(C=C, fit_intercept=False, max_iter=5_000)
        self.coef_ = model.fit(gap * sign[:, None], sign).coef_
        return self

    def decision_function(self, X):
        """Scores that rank the rows."""
        return X @ self.coef_[0]


LOGISTIC = LogisticRegression(max_iter=5_000)
MODELS = {
    PEER: LOGISTIC,
    AUTO: GaussianAUCClassifier(shrinkage="auto"),
    PLAIN: GaussianAUCClassifier(),
    TUNED: GridSearchCV(LOGISTIC, {"C": np.logspace(-3, 1, 5)}, scoring="roc_auc"),
    LDA: LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),  # lsqr may fail
    PAIRWISE: PairwiseLogistic(),
}


def half(name, seed, data_dir):
    """Hold-out AUC of every model on one split; None where one is left out."""
    X, y = load(name, data_dir)
    split = StratifiedShuffleSplit(1, train_size=0.5, random_state=seed)
    ((train, test),) = split.split(X, y)
    scaler = StandardScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    out, wide = {"rows": len(train), "features": X.shape[1]}, X.shape[1] > len(train)
    span = np.linalg.qr(X_train.T)[0] if wide else None
    for title, model in MODELS.items():
        if title == LDA and X.shape[1] > WIDEST_LDA:
            out[title] = None
            continue
        A, B = X_train, X_test
        if wide and title in (PEER, TUNED, PAIRWISE):
            A, B = A @ span, B @ span
        score = model.fit(A, y[train]).decision_function(B)
        out[title] = float(roc_auc_score(y[test], score))
    return out


def group_of(n, P):
    """Group of a set by its size."""
    return GROUPS[0] if 10 * P <= n else GROUPS[1] if P < n else GROUPS[2]


def summary_rows(table):
    """Mean difference to the peer over the sets of a group, with its error."""
    out = []
    for group in GROUPS:
        part = table[table["group"] == group]
        for title in MODELS:
            gap = (part[title] - part[PEER]).dropna()
            if title != PEER and len(gap):
                row = {"group": group, "model": title, "sets": len(gap)}
                row |= {"AUC - peer's": float(gap.mean()), "SE": float(gap.sem())}
                row |= {"won": int((gap > 0).sum()), "lost": int((gap < 0).sum())}
                out.append(row)
    return out


def run(arguments):
    """Rows of every set, and the summary over sets."""
    names = real_names(arguments.data_dir)
    if arguments.fast:
        names = [name for name in names if name in FAST_SETS]
    splits = range(3 if arguments.fast else SPLITS)
    jobs = [(name, seed, arguments.data_dir) for name in names for seed in splits]
    found = pd.DataFrame(resume("gaussian_auc_panel", half, jobs, arguments))
    found["set"] = [job[0] for job in jobs]
    table = found.groupby(["set", "rows", "features"], sort=False)[[*MODELS]].mean()
    table = table.reset_index().rename(columns={"rows": "training rows"})
    sizes = zip(table["training rows"], table["features"], strict=True)
    table.insert(3, "group", [group_of(*size) for size in sizes])
    return table, summary_rows(table)


def claims(summary):
    """What paper and post promise for real data."""
    found = {(r["group"], r["model"]): (r["AUC - peer's"], r["SE"]) for r in summary}
    groups = [name for name in GROUPS if (name, AUTO) in found]

    def judged(text, title, where, against=None):
        where = [g for g in where if (g, title) in found]
        words = ", ".join(
            "{:+.4f} ({:.4f}) {}".format(*found[g, title], g) for g in where
        )
        base = {g: found[g, against][0] if against else 0.0 for g in where}
        flags = [found[g, title][0] >= base[g] - 0.005 for g in where]
        rule = f"mean >= {against or PEER}'s less .005 in each group"
        return claim("panel", text, words, flags, rule)

    return [
        judged("high quality also on data that are not normal", AUTO, groups),
        judged("works well for n >> p without shrinkage", PLAIN, groups[:1]),
        judged("as good as minimising a pairwise loss", AUTO, groups, PAIRWISE),
        judged("as good as LDA where P < n", AUTO, groups[:2], LDA),
        judged("as good as logistic regression with C by CV", AUTO, groups, TUNED),
    ]
