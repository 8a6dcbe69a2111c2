"""A course's lesson on classification, computed beside its printed numbers.

Source: Pennsylvania State University, STAT 508 *Applied Data Mining and Statistical
Learning*, lesson 9 "Classification", https://online.stat.psu.edu/stat508/lesson/9 .

- **Pima** on two principal components (``--data-dir`` with ``pima.npz``; features
  standardised with ddof 0): logistic regression by IRLS, LDA, QDA, linear regression of
  the indicator, k nearest neighbours; error rates, sensitivity and specificity on the
  training rows, the AUC and, where there is one, its analytic value.
- **Two normal classes** with Σ = diag(1, 0.5625) and the boundary
  5.56 − 2.00x₁ + 3.56x₂ = 0: that of means (0, 0), (2, −2) and equal priors.
- **Two normals in each class**, one dimension: boundaries and errors of LDA, logistic
  regression and Bayes' rule. The design, 0.6 N(−2, ¼) + 0.4 N(0, 1) against
  0.6 N(0, ¼) + 0.4 N(2, 1) with equal priors, 2000 training and 1000 test rows a class
  (the printed errors are multiples of 1/2000), is a reconstruction: the printed numbers
  are compared with it, not taken from it.
- **Multinomial IRLS on iris**: the classes are quasi-completely separated, and the
  likelihood has a supremum only, that of versicolor against virginica alone.

The printed priors, means, pooled covariance, both classifiers and 28.13 % were read on
the lesson's pages; sensitivities, specificities, QDA's covariances and its 29.04 % come
from notes on it (they are consistent: 145 + 72 wrong of 768 are 28.26 %).

    python -m benchmarks.papers.classification_lesson --data-dir DIR [--fast]

Writes ``results/classification_lesson/{numbers,pima,mixture,claims}.csv``.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import ndtr
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from benchmarks.papers.lesson_pima import pima
from benchmarks.tools.printed import number, within
from benchmarks.tools.runs import claim, parse, resume
from benchmarks.tools.table import write_table
from skauc import (
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    QuadraticDiscriminantROC,
    QuadraticROC,
)

# (weight, mean, standard deviation) of the normals in each class
MIXTURE = (((0.6, -2.0, 0.5), (0.4, 0.0, 1.0)), ((0.6, 0.0, 0.5), (0.4, 2.0, 1.0)))
TRAINING_ROWS, TEST_ROWS = 2000, 1000  # of each class
SIGMA, MEANS = np.diag([1.0, 0.5625]), np.array([[0.0, 0.0], [2.0, -2.0]])


def linear_boundary(means, sigma):
    """``c + aᵀx`` of LDA with equal priors, positive on the side of the first class."""
    a = np.linalg.solve(sigma, means[0] - means[1])
    return np.r_[-(means[0] + means[1]) @ a / 2, a]


def normal_classes(arguments):
    """The boundary of the known classes, and a Monte Carlo of it and the estimators."""
    c, *a = linear_boundary(MEANS, SIGMA)
    part = "normal classes"
    rows = [
        number(part, name, value, printed, 2)
        for name, value, printed in zip(
            ("constant", "x1", "x2"), (c, *a), (5.56, -2.00, 3.56), strict=True
        )
    ]
    distance = np.sqrt((MEANS[1] - MEANS[0]) @ -np.array(a))
    n, rng = 10_000 if arguments.fast else 1_000_000, np.random.default_rng(9)
    X = np.vstack(
        [m + rng.standard_normal((n, 2)) * np.sqrt(np.diag(SIGMA)) for m in MEANS]
    )
    y = np.repeat([0, 1], n)
    score = -(c + X @ a)
    known = QuadraticROC.between_normals(MEANS[0], SIGMA, MEANS[1], SIGMA)
    checks = [
        ("error of the rule", np.mean((score > 0) != y), ndtr(-distance / 2)),
        ("AUC of the rule", roc_auc_score(y, score), ndtr(distance / np.sqrt(2))),
        ("AUC, LDA fitted", LinearDiscriminantROC().fit(X, y).auc_, known.auc),
        ("AUC, QDA fitted", QuadraticDiscriminantROC().fit(X, y).auc_, known.auc),
    ]
    for name, simulated, exact in checks:
        remark = f"{2 * n} rows drawn; within 3 standard errors"
        rows.append(number(part, name, simulated, exact, 4, remark, "the exact law"))
        rows[-1]["agrees"] = within(simulated, exact, np.sqrt(exact * (1 - exact) / n))
    return rows


def density(x, k):
    """Of class k."""
    return sum(w * norm.pdf(x, m, s) for w, m, s in MIXTURE[k])


def mixture_error(boundary):
    """Of the rule that says class 1 to the right of the boundary, equal priors."""
    right = sum(w * norm.sf(boundary, m, s) for w, m, s in MIXTURE[0])
    left = sum(w * norm.cdf(boundary, m, s) for w, m, s in MIXTURE[1])
    return (right + left) / 2


def population_boundaries():
    """Of endless training rows: LDA, logistic regression, Bayes."""
    means = [sum(w * m for w, m, _ in MIXTURE[k]) for k in (0, 1)]

    def loss(beta):
        def at(x):
            f = beta[0] + beta[1] * x
            return density(x, 0) * np.logaddexp(0, f) + density(x, 1) * np.logaddexp(
                0, -f
            )

        return quad(at, -12, 12, points=[-2, 0, 2], limit=400, epsabs=1e-11)[0]

    beta = minimize(loss, [0.0, 1.0], tol=1e-11).x
    bayes = brentq(lambda x: density(x, 0) - density(x, 1), -2, 0, xtol=1e-14)
    return {"LDA": sum(means) / 2, "logistic": -beta[0] / beta[1], "Bayes": bayes}


def draw_mixture(n, rng):
    """Rows and labels, n of each class."""
    x = []
    for parts in MIXTURE:
        which = (rng.random(n) >= parts[0][0]).astype(int)
        _, mean, deviation = np.array(parts).T
        x.append(mean[which] + deviation[which] * rng.standard_normal(n))
    return np.concatenate(x)[:, None], np.repeat([0, 1], n)


def mixture_samples(block, replicates, bayes):
    """Boundaries and test errors of ``replicates`` samples of the lesson's size."""
    rng, out = np.random.default_rng([508, block]), []
    for _ in range(replicates):
        X, y = draw_mixture(TRAINING_ROWS, rng)
        X_test, y_test = draw_mixture(TEST_ROWS, rng)
        models = LinearDiscriminantROC().fit(X, y), IRLSLogisticRegression().fit(X, y)
        cuts = [-float(m.intercept_[0] / m.coef_[0, 0]) for m in models] + [bayes]
        errors = [float(np.mean((X_test[:, 0] > cut) != y_test)) for cut in cuts]
        out.append(cuts + errors)
    return out


def mixture(arguments):
    """Printed numbers against the population and samples of the lesson's size."""
    population = population_boundaries()
    blocks, size = (2, 30) if arguments.fast else (40, 50)
    jobs = [(block, size, population["Bayes"]) for block in range(blocks)]
    samples = np.concatenate(resume("lesson_mixture", mixture_samples, jobs, arguments))
    printed = {
        "LDA": (-0.1862, 0.2315),
        "logistic": (-0.2477, 0.2205),
        "Bayes": (-0.7750, 0.1765),
    }
    rows, numbers = [], []
    for k, name in enumerate(printed):
        exact = population[name], mixture_error(population[name])
        for j, what in enumerate(("boundary", "error rate")):
            sample = samples[:, k + 3 * j]
            rows.append(
                {
                    "rule": name,
                    "quantity": what,
                    "printed": printed[name][j],
                    "population": exact[j],
                    "sample mean": sample.mean(),
                    "sample SD": round(sample.std(ddof=1), 12),
                    "samples": len(sample),
                }
            )
            row = number("mixture", f"{name}, {what}", exact[j], printed[name][j], 4)
            deviation = sample.std(ddof=1) if what == "error rate" or k < 2 else 0.0
            row["agrees"] = within(printed[name][j], exact[j], deviation)
            row["remark"] = f"population; within 3 SD of a sample, {deviation:.4f}"
            if deviation == 0:
                row["remark"] = "read off a grid of 0.05? the middle of (-0.80, -0.75)"
            numbers.append(row)
    return rows, numbers


def mixture_claims(rows):
    """What the lesson says about classes that are not normal."""
    error = {r["rule"]: r["population"] for r in rows if r["quantity"] == "error rate"}
    text = ", ".join(f"{rule} {value:.4f}" for rule, value in error.items())
    return [
        claim(
            "mixture",
            "logistic regression is nearer to Bayes' rule than LDA",
            f"population errors: {text}",
            [error["Bayes"] < error["logistic"] < error["LDA"]],
            "population errors in this order",
        )
    ]


def iris():
    """Multinomial IRLS against an independent optimiser."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # separation: reported below
        model = IRLSLogisticRegression().fit(X, y)
    X1 = np.c_[np.ones(100), (X[50:] - X[50:].mean(0)) / X[50:].std(0)]
    two = minimize(
        lambda b: np.logaddexp(0, np.where(y[50:] == 1, 1, -1) * (X1 @ b)).sum(),
        np.zeros(5),
        tol=1e-10,
    )
    part, R = "iris", "multinom of R's nnet"
    rows = [
        number(part, "log-likelihood, IRLS", model.log_likelihood_, -5.949, 3,
               f"{model.separation_} separation: a supremum, not a maximum", R),
        number(part, "log-likelihood, independent optimiser", -two.fun, -5.949, 3,
               "versicolor against virginica, where setosa's part is 0", R),
    ]  # fmt: skip
    return rows


def main(argv=None):
    """Compute everything, write the tables and the picture."""
    arguments = parse(__doc__, argv, folder="classification_lesson")
    numbers, claims = normal_classes(arguments), []
    samples, more = mixture(arguments)
    numbers += more + iris()
    claims += mixture_claims(samples)
    if arguments.data_dir is None:
        print("Pima is left out: it needs --data-dir with pima.npz")
    else:
        methods, more, about = pima(arguments.data_dir)
        numbers, claims = more + numbers, about + claims
        write_table("pima", methods, arguments.out)
    write_table("mixture", samples, arguments.out)
    write_table("numbers", numbers, arguments.out)
    write_table("claims", claims, arguments.out)


if __name__ == "__main__":
    main()
