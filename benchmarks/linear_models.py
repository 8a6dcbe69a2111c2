"""Linear models on real sets: hold-out AUC over repeated stratified halves.

Half of the rows train, the other half tells; features are standardised by the training
rows. The models:

- *Gaussian AUC*, ``shrinkage="auto"`` (Ledoit–Wolf) and without shrinkage;
- *logistic regression*, C = 1 (the peer) and C of five by 5-fold cross-validation;
- *LDA* with Ledoit–Wolf shrinkage, up to 1600 features: it solves a P×P system;
- *pairwise logistic*: the linear score of least ``Σ log(1 + exp(−wᵀ(x₊ − x₋)))`` plus a
  ridge (RankNet; Burges et al. 2005, https://doi.org/10.1145/1102351.1102363).

With more features than rows the penalised models are fitted in the span of the training
rows, where their solution lies. The halves of one set overlap, so the standard error of
a mean difference is Nadeau & Bengio's, ``√((1/J + n_test/n_train) s²)``
(https://doi.org/10.1023/A:1024068626366). Rows are taken as independent; those of musk1
and parkinsons are not, which troubles all models alike.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from paper_runs import claim, resume
from problems_real import load, real_names
from results_table import write_picture
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

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
        model = LogisticRegression(
            C=len(y) / len(gap), fit_intercept=False, max_iter=5_000
        )
        self.coef_ = model.fit(gap * sign[:, None], sign).coef_
        return self

    def decision_function(self, X):
        """Scores that rank the rows."""
        return X @ self.coef_[0]


MODELS = {
    PEER: LogisticRegression(max_iter=5_000),
    AUTO: GaussianAUCClassifier(solver="closed_form", shrinkage="auto"),
    PLAIN: GaussianAUCClassifier(solver="closed_form"),
    TUNED: GridSearchCV(
        LogisticRegression(max_iter=5_000),
        {"C": np.logspace(-3, 1, 5)},
        scoring="roc_auc",
    ),
    LDA: LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),  # lsqr may fail
    PAIRWISE: PairwiseLogistic(),
}
RIVALS = tuple(MODELS)[1:]
COLOURS = ("#0072B2", "#56B4E9", "0.5", "#009E73", "#D55E00")


def half(name, seed, data_dir):
    """Hold-out AUC of every model on one split; None where one is left out."""
    X, y = load(name, Path(data_dir) if data_dir else None)
    split = StratifiedShuffleSplit(1, train_size=0.5, random_state=seed)
    ((train, test),) = split.split(X, y)
    scaler = StandardScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    out = {"rows": len(train), "features": X.shape[1]}
    span = np.eye(1)
    if X.shape[1] > len(train):
        span = np.linalg.qr(X_train.T)[0]
    for title, model in MODELS.items():
        if title == LDA and X.shape[1] > WIDEST_LDA:
            out[title] = None
            continue
        A, B = X_train, X_test
        if len(span) > 1 and title in (PEER, TUNED, PAIRWISE):
            A, B = A @ span, B @ span
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # singular Σ without shrinkage: a subject
            score = model.fit(A, y[train]).decision_function(B)
        out[title] = float(roc_auc_score(y[test], score))
    return out


def group(row):
    """Which of three groups a set belongs to, by features and training rows."""
    n, P = row["training rows"], row["features"]
    return GROUPS[0] if 10 * P <= n else GROUPS[1] if P < n else GROUPS[2]


def set_rows(results):
    """One row a set: the peer's AUC, and each rival's mean difference with its error.

    ``results`` maps a set to the list of what :func:`half` returned for it.
    """
    rows = []
    for name, runs in results.items():
        row = {"set": name, "training rows": runs[0]["rows"]}
        row["features"] = runs[0]["features"]
        row["group"] = group(row)
        peer = np.array([run[PEER] for run in runs])
        row[PEER] = peer.mean()
        for title in RIVALS:
            if runs[0][title] is None:
                row |= {title: None, f"{title} SE": None}
                continue
            gap = np.array([run[title] for run in runs]) - peer
            error = np.sqrt((1 / len(gap) + 1) * gap.var(ddof=1))
            row |= {title: gap.mean(), f"{title} SE": float(error)}
        rows.append(row)
    return rows


def summary_rows(rows):
    """Mean difference to the peer over the sets of a group; sets won and lost.

    Clearly: by more than two standard errors of that set.
    """
    out = []
    for name in ("all", *GROUPS):
        part = [row for row in rows if name in ("all", row["group"])]
        for title in RIVALS if part else ():
            known = [row for row in part if row[title] is not None]
            gap = np.array([row[title] for row in known])
            error = np.array([row[f"{title} SE"] for row in known])
            few = len(gap) < 2
            out.append(
                {
                    "group": name,
                    "model": title,
                    "sets": len(gap),
                    "AUC - peer's": gap.mean() if len(gap) else np.nan,
                    "SE": np.nan if few else gap.std(ddof=1) / np.sqrt(len(gap)),
                    "won": int(np.sum(gap > 0)),
                    "lost": int(np.sum(gap < 0)),
                    "clearly won": int(np.sum(gap > 2 * error)),
                    "clearly lost": int(np.sum(gap < -2 * error)),
                }
            )
    return out


def draw(rows, path):
    """Difference to the peer, one line a set, sorted by features a training row."""
    rows = sorted(rows, key=lambda row: -row["features"] / row["training rows"])
    figure, ax = plt.subplots(figsize=(7, 1.6 + 0.22 * len(rows)))
    height = np.arange(len(rows))
    for k, (title, colour) in enumerate(zip(RIVALS, COLOURS, strict=True)):
        gap = np.array([np.nan if row[title] is None else row[title] for row in rows])
        lift = 0.13 * (k - 2)
        ax.plot(gap, height - lift, "osd^v"[k], color=colour, ms=4, label=title)
    ax.axvline(0, color="k", lw=1)
    ax.set_xscale("symlog", linthresh=0.01)
    ticks = (-0.2, -0.05, -0.01, 0, 0.01, 0.05)
    ax.set_xticks(ticks, [f"{t:+g}" if t else "0" for t in ticks])
    ax.set_xticks([], minor=True)
    ax.set(xlim=(-0.3, 0.08), ylim=(-0.8, len(rows) - 0.2))
    labels = [f"{r['set']}  {r['training rows']} × {r['features']}" for r in rows]
    ax.set_yticks(height, labels, fontsize=8)
    ax.grid(axis="y", color="0.93")
    ax.set_axisbelow(True)
    ax.set_xlabel("hold-out AUC less that of logistic regression, C = 1 (symlog)")
    ax.legend(ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.4, 1))
    write_picture(figure, path, dpi=80, bbox_inches="tight")
    plt.close(figure)


def run(arguments):
    """Rows of every set, and the summary over sets."""
    if arguments.data_dir is None:
        print("no --data-dir: the panel holds scikit-learn's own sets only")
    names = real_names(arguments.data_dir)
    if arguments.fast:
        names = [name for name in names if name in FAST_SETS]
    splits = 3 if arguments.fast else SPLITS
    folder = str(arguments.data_dir) if arguments.data_dir else None
    jobs = [(name, seed, folder) for name in names for seed in range(splits)]
    results = resume("paper_gaussian_auc_panel", half, jobs, arguments)
    by_set = {name: [] for name in names}
    for job, result in zip(jobs, results, strict=True):
        by_set[job[0]].append(result)
    rows = set_rows(by_set)
    return rows, summary_rows(rows)


def claims(summary):
    """What paper and post promise for real data."""
    mean = {(r["group"], r["model"]): r["AUC - peer's"] for r in summary}
    error = {(r["group"], r["model"]): r["SE"] for r in summary}
    groups = [name for name in GROUPS if (name, AUTO) in mean]
    wide = [name for name in groups if name != groups[0]]
    total = next(r for r in summary if (r["group"], r["model"]) == ("all", AUTO))

    def words(title, where):
        return ", ".join(
            f"{mean[g, title]:+.4f} ({error[g, title]:.4f}) {g}" for g in where
        )

    return [
        claim(
            "panel",
            "high quality also on data that are not normal (shrinkage auto)",
            f"AUC less logistic regression's {words(AUTO, groups)}",
            [mean[g, AUTO] >= -0.005 for g in groups],
            "mean difference >= -.005 in each group of sets",
        ),
        claim(
            "panel",
            "works well in the n >> p environment (no shrinkage)",
            words(PLAIN, groups[:1]),
            [mean[groups[0], PLAIN] >= -0.005],
            "mean difference >= -.005 where 10 P <= n",
        ),
        claim(
            "panel",
            "with many features Σ needs regularisation",
            f"none {words(PLAIN, wide)}; auto {words(AUTO, wide)}",
            [mean[g, AUTO] > mean[g, PLAIN] for g in wide],
            "auto better in each group with 10 P > n",
        ),
        claim(
            "panel",
            "as good as minimising a pairwise loss (shrinkage auto)",
            f"pairwise {words(PAIRWISE, groups)}",
            [mean[g, AUTO] >= mean[g, PAIRWISE] - 0.005 for g in groups],
            "mean at most .005 lower in each group",
        ),
        claim(
            "panel",
            "as good as LDA where that can be had (shrinkage auto)",
            f"LDA {words(LDA, groups[:2])}",
            [mean[g, AUTO] >= mean[g, LDA] - 0.005 for g in groups[:2]],
            "mean at most .005 lower in each group with P < n",
        ),
        claim(
            "panel",
            "as good as logistic regression with C by cross-validation "
            "(shrinkage auto)",
            f"C by CV {words(TUNED, groups)}",
            [mean[g, AUTO] >= mean[g, TUNED] - 0.005 for g in groups],
            "mean at most .005 lower in each group",
        ),
        claim(
            "panel",
            "on no set clearly worse than logistic regression (shrinkage auto)",
            f"clearly won {total['clearly won']}, clearly lost "
            f"{total['clearly lost']} of {total['sets']} sets",
            [total["clearly lost"] == 0],
            "no set lost by more than two of its standard errors",
        ),
    ]
