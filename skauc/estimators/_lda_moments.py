"""Linear discriminant analysis from the moments of the classes, and few rows.

LDA sees rows only through the class shares π_k, means m_k and covariances
S_k = W_k/n_k. So scikit-learn's own solver is given 2P rows a class that have them: the
rows

    m_k ± √(Pλ_j) D v_j,   S = D (Σ_j λ_j v_j v_jᵀ) D,   D the root of S's diagonal,

have mean m_k and covariance S, the common one, which the solver asks for:

    S = Σ_k π_k shrunk(S_k)  ("lsqr", "eigen"; π_k as given),   S = Σ_k W_k/n  ("svd").

Where "svd" divides by n − K instead of n (in older scikit-learn), S is made so that
it comes to the same of 2PK rows.

They stand around the grand mean o, so that a mean far from 0 takes no digits from the
spread; coefficients come back by ``f(x) = c(x − o) + i``. Where ``coef_ = S⁻¹m_k`` is
not centred (three or more classes, not "svd"), S⁻¹o is added to all of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from .._validation import check_column, check_option
from ..statistics._moments import around
from ._checks import check_parameter

_EPS = np.finfo(float).eps


def check_streams(model):
    """Raise if a parameter of the model needs all rows at once, or breaks its rule."""
    check_option("solver", model.solver, ("svd", "lsqr", "eigen"))
    if model.covariance_estimator is not None:
        raise ValueError(
            "covariance_estimator must be None where rows come in blocks, of which it "
            f"would see one at a time, got {model.covariance_estimator!r:.60}"
        )
    if isinstance(model.shrinkage, str):
        check_option("shrinkage", model.shrinkage, ("auto",))
    elif model.shrinkage is not None:
        check_parameter("shrinkage", model.shrinkage, 0, high=1)


@cache
def parent_divides_by_n(solver) -> bool:
    """Whether the parent's variance of the rows −1, 1 and 0, 2 of two classes is 1."""
    parent = LinearDiscriminantAnalysis(solver=solver)
    parent.fit([[-1.0], [1.0], [0.0], [2.0]], [0, 0, 1, 1])
    return bool(abs(parent.coef_[0, 0] - 1) < 1e-9)  # the means' difference is 1


def fit_parent(model, blocks, sums) -> None:
    """Set scikit-learn's attributes of a discriminant whose rows come in blocks.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis
    blocks : RowBlocks
        For a second pass, if ``shrinkage="auto"``.
    sums : ClassSums
        With moments.
    """
    n = np.array([part.n for part in sums.moments])
    means = np.array([part.mean for part in sums.moments])
    total = sum(sums.moments[1:], sums.moments[0])
    if len(n) == sums.n_rows:
        raise ValueError(
            "The number of samples must be more than the number of classes."
        )
    # S_k of each class, and last the total covariance, which "eigen" needs.
    parts = [part.scatter / part.n for part in (*sums.moments, total)]
    if model.shrinkage == "auto":
        parts = _ledoit_wolf(blocks, sums.classes, (*sums.moments, total))
    elif model.shrinkage is not None:
        parts = [_shrunk(part, model.shrinkage) for part in parts]
    shares = n / n.sum()
    priors = shares if model.priors is None else np.asarray(model.priors, dtype=float)
    weighted = sum(p * S for p, S in zip(priors / priors.sum(), parts, strict=False))
    within = weighted
    if model.solver == "svd":
        within = sum(p * S for p, S in zip(shares, parts, strict=False))
        if not parent_divides_by_n("svd"):
            # The parent divides W of 2PK rows by 2PK − K, where W/(n − K) is meant.
            few, all_rows, K = 2 * len(within) * len(n), n.sum(), len(n)
            within = within * (1 - K / few) / (1 - K / all_rows)
    parent = LinearDiscriminantAnalysis(
        solver=model.solver,
        priors=priors,
        n_components=model.n_components,
        store_covariance=model.store_covariance,
        tol=model.tol,
    )
    spread = _rows_with_covariance(within)
    centred = np.array([around(part, total.mean).mean for part in sums.moments])
    rows = (centred[:, None, :] + spread).reshape(-1, spread.shape[1])
    parent.fit(rows, np.repeat(np.arange(len(n)), len(spread)))
    if model.solver == "eigen":
        _separate(parent, parts[-1] - within, within)
    _uncentre(parent, total.mean, within)
    parent.classes_, parent.means_ = sums.classes, means
    if hasattr(parent, "covariance_"):
        parent.covariance_ = weighted
    parameters = parent.get_params()
    vars(model).update(
        {k: value for k, value in vars(parent).items() if k not in parameters}
    )


def _rows_with_covariance(S):
    """2P rows of mean 0 and covariance S (divided by 2P)."""
    P = len(S)
    deviation = np.sqrt(np.diag(S))
    unit = np.where(deviation > 0, deviation, 1.0)
    # In the units of D: eigenvalues of features of any size are comparable.
    values, V = linalg.eigh(S / unit / unit[:, None])
    values[values < P * _EPS * values[-1]] = 0.0
    # ±√(Pλ_j) D v_j: (1/2P) Σ_j 2Pλ_j D v_j v_jᵀ D = S
    half = (V * np.sqrt(P * values)).T * unit
    return np.concatenate([half, -half])


def _separate(parent, between, within):
    """Axes of the largest ratio of between to within, from the true class shares."""
    # Between = total − within; Bv = λWv
    values, V = linalg.eigh(between, within)
    order = np.argsort(values)[::-1]
    shares = values[order] / values.sum()
    parent.scalings_ = V[:, order]
    parent.explained_variance_ratio_ = shares[: len(parent.explained_variance_ratio_)]


def _uncentre(parent, origin, within):
    """From coefficients of x − o to coefficients of x."""
    # c(x − o) + i = cx + (i − co)
    parent.intercept_ = parent.intercept_ - parent.coef_ @ origin
    if len(parent.classes_) > 2 and parent.solver != "svd":
        if parent.solver == "eigen":  # VᵀSV = I
            common = parent.scalings_ @ (origin @ parent.scalings_)
        else:
            common = linalg.lstsq(within, origin)[0]
        # S⁻¹m = S⁻¹(m − o) + S⁻¹o;  −½mᵀS⁻¹m comes of the centred one, less
        # coefᵀo above, by − ½oᵀS⁻¹o.
        parent.coef_ = parent.coef_ + common
        parent.intercept_ = parent.intercept_ - origin @ common / 2
    if hasattr(parent, "xbar_"):
        parent.xbar_ = parent.xbar_ + origin


def _shrunk(S, alpha):
    # (1 − α)S + α (tr S/P) I
    return (1 - alpha) * S + alpha * np.trace(S) / len(S) * np.eye(len(S))


def _ledoit_wolf(blocks, classes, moments):
    """Ledoit & Wolf's covariance on standardised features, of each class and of all."""
    centres = np.array([part.mean for part in moments])
    variances = np.array([np.diag(part.scatter) / part.n for part in moments])
    scales = np.where(variances > 0, np.sqrt(variances), 1.0)
    fourth = blocks.total(_fourth_powers_of_block, classes, centres, scales)
    covariances = []
    for part, scale, power in zip(moments, scales, fourth, strict=True):
        C = part.scatter / part.n / scale / scale[:, None]
        # α = min(b², d²)/d²: b² = (Σ‖z‖⁴/n − ‖C‖²)/n, d² = ‖C − τI‖² = ‖C‖² − (tr C)²/P
        noise = (power / part.n - np.sum(C**2)) / part.n
        distance = np.sum(C**2) - np.trace(C) ** 2 / len(C)
        noise = min(max(noise, 0.0), distance)
        alpha = noise / distance if noise > 0 else 0.0
        covariances.append(_shrunk(C, alpha) * scale * scale[:, None])
    return covariances


def _fourth_powers_of_block(block, classes, centres, scales):
    """``Σ ‖(x − x̄)/s‖⁴`` of the rows of each class, and of all."""
    X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
    y = check_column("y", block.y)
    masks = [*(y == label for label in classes), np.ones(len(y), dtype=bool)]
    powers = []
    for mask, centre, scale in zip(masks, centres, scales, strict=True):
        z = (X[mask] - centre) / scale
        powers.append(np.sum(np.einsum("ij,ij->i", z, z) ** 2))
    return np.array(powers)
