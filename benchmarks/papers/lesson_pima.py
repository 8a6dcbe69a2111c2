"""The lesson's diabetes data: two principal components, seven kinds of classifiers.

Part of ``classification_lesson.py``, which has the source and the usage.
"""

from __future__ import annotations

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.tools.printed import number
from benchmarks.tools.runs import claim
from skauc import (
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    QuadraticDiscriminantROC,
    binormal_roc,
)

NEIGHBOURS = (1, 5, 15, 35)


def pima(data_dir):
    """Table of methods, computed numbers with the printed ones, and claims."""
    Z, y = principal_components(data_dir)
    rows = compare_methods(Z, y)
    return rows, pima_numbers(Z, y, rows), pima_claims(Z, y, rows)


def principal_components(data_dir):
    """First two components of the standardised features, class 1 at the upper right."""
    data = np.load(data_dir / "pima.npz", allow_pickle=False)
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
    return LinearDiscriminantROC(
        solver="lsqr", covariance_estimator=Rescaled(n / (n - 2))
    )


def methods(n):
    """Name and estimator of every method of the lesson."""
    yield "logistic (IRLS)", IRLSLogisticRegression()
    yield "LDA (n - 2)", lesson_lda(n)
    yield "LDA (scikit-learn)", LinearDiscriminantROC()
    yield "QDA", QuadraticDiscriminantROC()
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
    return binormal_roc(y, scores_of(model, Z)).auc


def compare_methods(Z, y):
    """One row a method; the held-out error is that of 10 stratified folds."""
    folds, rows = StratifiedKFold(10, shuffle=True, random_state=0), []
    for name, model in methods(len(y)):
        says = model.fit(Z, y).predict(Z)
        held_out = cross_val_predict(model, Z, y, cv=folds.split(Z, y))
        rows.append(
            {
                "method": name,
                "error %": 100 * np.mean(says != y),
                "sensitivity %": 100 * np.mean(says[y == 1] == 1),
                "specificity %": 100 * np.mean(says[y == 0] == 0),
                "AUC": roc_auc_score(y, scores_of(model, Z)),
                "analytic AUC": analytic_auc(model, Z, y),
                "held-out error %": 100 * np.mean(held_out != y),
            }
        )
    return rows


def pima_numbers(Z, y, rows):
    """Everything that the lesson prints about Pima."""
    classes = [Z[y == k] for k in (0, 1)]
    cov = [np.cov(part.T) for part in classes]  # divided by n_c − 1, as in the lesson
    pooled = sum((len(p) - 1) * c for p, c in zip(classes, cov, strict=True)) / (
        len(y) - 2
    )
    logistic, lda = IRLSLogisticRegression().fit(Z, y), lesson_lda(len(y)).fit(Z, y)
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
    printed = {
        "logistic (IRLS)": (28.13, 45.9, 85.8),
        "LDA (n - 2)": (28.26, 45.90, 85.60),
        "LDA (scikit-learn)": (28.26, 45.90, 85.60),
        "QDA": (29.04, 45.90, 84.40),
    }
    for row in rows:
        for key, value in zip(
            ("error %", "sensitivity %", "specificity %"),
            printed.get(row["method"], ()),
            strict=False,
        ):
            remark = ""
            if row["method"] == "LDA (scikit-learn)":
                remark = "pooled covariance divided by n, not n - 2: one row goes over"
            line = number("Pima", f"{row['method']}, {key}", row[key], value, 2, remark)
            table.append(line)
    return table


def pima_claims(Z, y, rows):
    """What the lesson says about the methods on these data."""
    by = {row["method"]: row for row in rows}
    models = IRLSLogisticRegression(), lesson_lda(len(y)), LinearRegression()
    directions = [model.fit(Z, y).coef_.ravel() for model in models]
    logistic, lda, regression = (w / np.linalg.norm(w) for w in directions)
    angle = np.degrees(np.arccos(min(logistic @ lda, 1.0)))
    error = by["logistic (IRLS)"]["error %"]
    errors = by["QDA"]["error %"], by["LDA (n - 2)"]["error %"]
    return [
        claim(
            "Pima",
            "logistic regression and LDA have nearly the same boundary",
            f"{angle:.2f} degrees apart, errors {error:.2f} % and {errors[1]:.2f} %",
            [angle < 5, abs(error - errors[1]) < 0.5],
            "less than 5 degrees and half a point of error apart",
        ),
        claim(
            "Pima",
            "regression of the indicator has LDA's direction",
            f"1 - cosine = {abs(1 - regression @ lda):.1g}",
            [abs(1 - regression @ lda) < 1e-10],
            "1 - cosine < 1e-10",
        ),
        claim(
            "Pima",
            "QDA fits the training data better than LDA",
            f"training error {errors[0]:.2f} % against {errors[1]:.2f} %",
            [errors[0] < errors[1]],
            "smaller training error",
        ),
    ]
