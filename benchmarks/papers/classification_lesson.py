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

Printed sensitivities, specificities, QDA's covariances and its 29.04 % come from notes
on the lesson, all other numbers from its pages.

    python -m benchmarks.papers.classification_lesson --data-dir DIR [--fast]

Writes ``results/classification_lesson/{numbers,pima,mixture,claims}.csv``.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import ndtr
from scipy.stats import norm
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import skauc
from benchmarks.tools.runs import claim, parse, resume
from benchmarks.tools.table import write_table

# (weight, mean, standard deviation) of the normals in each class
MIXTURE = (((0.6, -2.0, 0.5), (0.4, 0.0, 1.0)), ((0.6, 0.0, 0.5), (0.4, 2.0, 1.0)))
NEIGHBOURS = (1, 5, 15, 35)
TRAINING_ROWS, TEST_ROWS = 2000, 1000  # of each class
SIGMA, MEANS = np.diag([1.0, 0.5625]), np.array([[0.0, 0.0], [2.0, -2.0]])


def number(part, quantity, computed, value, decimals, remark="", source="the lesson"):
    """A computed number beside another; it agrees if rounding makes it equal."""
    close = abs(computed - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
    row = {"part": part, "quantity": quantity}
    row |= {"computed": f"{computed:.{decimals + 1}f}"}
    row |= {"beside": f"{value:.{decimals}f}", "of": source}
    return row | {"agrees": "yes" if close else "no", "remark": remark}


def within(value, expected, deviation):
    """Whether two numbers differ by three standard deviations at most."""
    return "yes" if abs(value - expected) <= 3 * deviation else "no"


# Two normal classes -------------------------------------------------------------------


def linear_boundary(means, sigma):
    """``c + aᵀx`` of LDA with equal priors, positive on the side of the first class."""
    a = np.linalg.solve(sigma, means[0] - means[1])
    return np.r_[-(means[0] + means[1]) @ a / 2, a]


def normal_classes(arguments):
    """The boundary of the known classes, and a Monte Carlo of it and the estimators."""
    c, *a = linear_boundary(MEANS, SIGMA)
    part = "normal classes"
    lines = (("constant", c, 5.56), ("x1", a[0], -2.00), ("x2", a[1], 3.56))
    rows = [number(part, *line, 2) for line in lines]
    distance = np.sqrt((MEANS[1] - MEANS[0]) @ -np.array(a))
    n, rng = 10_000 if arguments.fast else 1_000_000, np.random.default_rng(9)
    deviations = np.sqrt(np.diag(SIGMA))
    X = np.vstack([m + rng.standard_normal((n, 2)) * deviations for m in MEANS])
    y = np.repeat([0, 1], n)
    score = -(c + X @ a)
    known = skauc.results.QuadraticROC.between_normals(MEANS[0], SIGMA, MEANS[1], SIGMA)
    checks = [
        ("error of the rule", np.mean((score > 0) != y), ndtr(-distance / 2)),
        ("AUC of the rule", roc_auc_score(y, score), ndtr(distance / np.sqrt(2))),
        ("AUC, LDA fitted", skauc.LinearDiscriminantROC().fit(X, y).auc_, known.auc),
        ("AUC, QDA fitted", skauc.QuadraticDiscriminantROC().fit(X, y).auc_, known.auc),
    ]
    for name, simulated, exact in checks:
        remark = f"{2 * n} rows drawn; within 3 standard errors"
        rows.append(number(part, name, simulated, exact, 4, remark, "the exact law"))
        rows[-1]["agrees"] = within(simulated, exact, np.sqrt(exact * (1 - exact) / n))
    return rows


# Two normals in each class ------------------------------------------------------------


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
            zero, one = np.logaddexp(0, f), np.logaddexp(0, -f)
            return density(x, 0) * zero + density(x, 1) * one

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
        kinds = skauc.LinearDiscriminantROC, skauc.IRLSLogisticRegression
        models = [kind().fit(X, y) for kind in kinds]
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
    printed = {"LDA": (-0.1862, 0.2315), "logistic": (-0.2477, 0.2205)}
    printed["Bayes"] = (-0.7750, 0.1765)
    rows, numbers = [], []
    for k, name in enumerate(printed):
        exact = population[name], mixture_error(population[name])
        for j, what in enumerate(("boundary", "error rate")):
            sample, beside = samples[:, k + 3 * j], printed[name][j]
            deviation = round(sample.std(ddof=1), 12)
            row = {"rule": name, "quantity": what, "printed": beside}
            row |= {"population": exact[j], "sample mean": sample.mean()}
            rows.append(row | {"sample SD": deviation, "samples": len(sample)})
            row = number("mixture", f"{name}, {what}", exact[j], beside, 4)
            row["agrees"] = within(beside, exact[j], deviation)
            row["remark"] = f"population; within 3 SD of a sample, {deviation:.4f}"
            if deviation == 0:  # Bayes' boundary is the same in every sample
                row["remark"] = "read off a grid of 0.05? the middle of (-0.80, -0.75)"
            numbers.append(row)
    return rows, numbers


def mixture_claims(rows):
    """What the lesson says about classes that are not normal."""
    error = {r["rule"]: r["population"] for r in rows if r["quantity"] == "error rate"}
    found = ", ".join(f"{rule} {value:.4f}" for rule, value in error.items())
    text = "logistic regression is nearer to Bayes' rule than LDA"
    order = [error["Bayes"] < error["logistic"] < error["LDA"]]
    rule = "population errors in this order"
    return [claim("mixture", text, f"population errors: {found}", order, rule)]


# Iris ---------------------------------------------------------------------------------


def iris():
    """Multinomial IRLS against an independent optimiser."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():  # separation: reported below
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = skauc.IRLSLogisticRegression().fit(X, y)
    X1 = np.c_[np.ones(100), (X[50:] - X[50:].mean(0)) / X[50:].std(0)]
    sign = np.where(y[50:] == 1, 1, -1)

    def loss(b):
        return np.logaddexp(0, sign * (X1 @ b)).sum()

    two = minimize(loss, np.zeros(5), tol=1e-10)
    part, R = "iris", "multinom of R's nnet"
    return [
        number(part, "log-likelihood, IRLS", model.log_likelihood_, -5.949, 3,
               f"{model.separation_} separation: a supremum, not a maximum", R),
        number(part, "log-likelihood, independent optimiser", -two.fun, -5.949, 3,
               "versicolor against virginica, where setosa's part is 0", R),
    ]  # fmt: skip


# Pima ---------------------------------------------------------------------------------


def pima(data_dir):
    """Table of methods, computed numbers with the printed ones, and claims."""
    Z, y = principal_components(data_dir)
    rows = compare_methods(Z, y)
    return rows, pima_numbers(Z, y, rows), pima_claims(Z, y, rows)


def principal_components(data_dir):
    """First two components of the standardised features, class 1 at the upper right."""
    data = np.load(Path(data_dir, "pima.npz"), allow_pickle=False)
    X, y = data["X"], data["y"].astype(int)
    Z = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    return Z * np.sign(Z[y == 1].mean(axis=0)), y  # a component has no sign of its own


class Rescaled(EmpiricalCovariance):
    """The covariance of the rows times a factor."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.factor = factor

    def fit(self, X, y=None):
        """Fit the parent, then multiply."""
        super().fit(X)
        self.covariance_ = self.factor * self.covariance_
        return self


def lesson_lda(n):
    """LDA with the pooled covariance divided by n − 2; scikit-learn divides it by n."""
    return skauc.LinearDiscriminantROC(
        solver="lsqr", covariance_estimator=Rescaled(n / (n - 2))
    )


def methods(n):
    """Name and estimator of every method of the lesson."""
    yield "logistic (IRLS)", skauc.IRLSLogisticRegression()
    yield "LDA (n - 2)", lesson_lda(n)
    yield "LDA (scikit-learn)", skauc.LinearDiscriminantROC()
    yield "QDA", skauc.QuadraticDiscriminantROC()
    for k in NEIGHBOURS:
        yield f"{k}-NN", KNeighborsClassifier(k)


def scores_of(model, Z):
    """Decision function, or the probability of class 1."""
    if hasattr(model, "decision_function"):
        return model.decision_function(Z)
    return model.predict_proba(Z)[:, 1]


def analytic_auc(model, Z, y):
    """Under normal classes: QDA's own, else that of a linear score; NaN without one."""
    if hasattr(model, "auc_"):
        return model.auc_
    if isinstance(model, KNeighborsClassifier):
        return np.nan
    return skauc.binormal_roc(y, scores_of(model, Z)).auc


def compare_methods(Z, y):
    """One row a method; the held-out error is that of 10 stratified folds."""
    folds, rows = StratifiedKFold(10, shuffle=True, random_state=0), []
    for name, model in methods(len(y)):
        says = model.fit(Z, y).predict(Z)
        row = {"method": name, "error %": 100 * np.mean(says != y)}
        row["sensitivity %"] = 100 * np.mean(says[y == 1] == 1)
        row["specificity %"] = 100 * np.mean(says[y == 0] == 0)
        row["AUC"] = roc_auc_score(y, scores_of(model, Z))
        row["analytic AUC"] = analytic_auc(model, Z, y)
        held_out = cross_val_predict(model, Z, y, cv=folds.split(Z, y))
        rows.append(row | {"held-out error %": 100 * np.mean(held_out != y)})
    return rows


def pima_numbers(Z, y, rows):
    """Everything that the lesson prints about Pima."""
    classes = [Z[y == k] for k in (0, 1)]
    cov = [np.cov(part.T) for part in classes]  # divided by n_c − 1, as in the lesson
    weights = [(len(part) - 1) / (len(y) - 2) for part in classes]
    pooled = weights[0] * cov[0] + weights[1] * cov[1]
    logistic = skauc.IRLSLogisticRegression().fit(Z, y)
    lda = lesson_lda(len(y)).fit(Z, y)
    upper = np.triu_indices(2)
    vectors = [
        ("prior of class {}", [len(p) / len(y) for p in classes], (0.651, 0.349), 3),
        ("mean 0, component {}", classes[0].mean(0), (-0.4038, -0.1937), 4),
        ("mean 1, component {}", classes[1].mean(0), (0.7533, 0.3613), 4),
        ("pooled covariance {}", pooled[upper], (1.7949, -0.1463, 1.6656), 4),
        ("QDA covariance 0 {}", cov[0][upper], (1.6790, -0.0461, 1.5985), 4),
        ("QDA covariance 1 {}", cov[1][upper], (2.0114, -0.3334, 1.7910), 4),
        ("logistic coefficient {}", np.r_[logistic.intercept_, logistic.coef_[0]],
         (-0.7682, 0.6816, 0.3663), 4),
        ("LDA coefficient {}", -np.r_[lda.intercept_, lda.coef_[0]],
         (0.7748, -0.6767, -0.3926), 4),
    ]  # fmt: skip
    table = [
        number("Pima", name.format(i), computed, value, decimals)
        for name, values, printed, decimals in vectors
        for i, (computed, value) in enumerate(zip(values, printed, strict=True))
    ]
    columns = ("error %", "sensitivity %", "specificity %")
    lda = (28.26, 45.90, 85.60)
    printed = {"logistic (IRLS)": (28.13, 45.9, 85.8), "QDA": (29.04, 45.90, 84.40)}
    printed |= {"LDA (n - 2)": lda, "LDA (scikit-learn)": lda}
    remark = "pooled covariance divided by n, not n - 2: one row goes over"
    for row in rows:
        method = row["method"]
        for key, value in zip(columns, printed.get(method, ()), strict=False):
            of = "Pima", f"{method}, {key}", row[key], value, 2
            table.append(number(*of, remark if "scikit-learn" in method else ""))
    return table


def pima_claims(Z, y, rows):
    """What the lesson says about the methods on these data."""
    by = {row["method"]: row for row in rows}
    models = skauc.IRLSLogisticRegression(), lesson_lda(len(y)), LinearRegression()
    directions = [model.fit(Z, y).coef_.ravel() for model in models]
    logistic, lda, regression = (w / np.linalg.norm(w) for w in directions)
    angle = np.degrees(np.arccos(min(logistic @ lda, 1.0)))
    error = by["logistic (IRLS)"]["error %"]
    errors = by["QDA"]["error %"], by["LDA (n - 2)"]["error %"]
    both = f"errors {error:.2f} % and {errors[1]:.2f} %"
    near = [angle < 5, abs(error - errors[1]) < 0.5]
    gap = abs(1 - regression @ lda)
    return [
        claim("Pima", "logistic regression and LDA have nearly the same boundary",
              f"{angle:.2f} degrees apart, {both}", near,
              "less than 5 degrees and half a point of error apart"),
        claim("Pima", "regression of the indicator has LDA's direction",
              f"1 - cosine = {gap:.1g}", [gap < 1e-10], "1 - cosine < 1e-10"),
        claim("Pima", "QDA fits the training data better than LDA",
              f"training error {errors[0]:.2f} % against {errors[1]:.2f} %",
              [errors[0] < errors[1]], "smaller training error"),
    ]  # fmt: skip


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
