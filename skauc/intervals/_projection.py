"""One posterior of one direction ``s = X @ w``, by the same steps for every prior.

The prior learns the rows and is asked about the direction; its projection then answers
``.auc()``, ``.rates(t)``, ``.error(t, share_pos)`` and ``.ebauc(t)``.
"""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import check_counts, check_option
from ..adaptive._data_model import data_model
from ..adaptive._prior import AdaptivePrior
from ..posterior._conjugate import COVARIANCES, LearntConjugate, NormalInverseWishart
from ..statistics._rows import Rows
from ..statistics._warn_caller import warn_caller

# Scores that differ by less are equal: a product of P terms rounds that much
_SAME = 64 * np.finfo(float).eps
_PRIORS = {"adaptive": AdaptivePrior(), "paper": NormalInverseWishart()}


def check_prior(prior):
    """Prior object of a name; anything else is an error."""
    if isinstance(prior, str) and prior in _PRIORS:
        return _PRIORS[prior]
    if not isinstance(prior, AdaptivePrior | NormalInverseWishart):
        raise ValueError(
            "prior must be 'adaptive', 'paper', an AdaptivePrior or a "
            f"NormalInverseWishart, got {prior!r}"
        )
    return prior


def check_covariance(prior, covariance, default="common") -> None:
    """The covariance is known to the prior; the adaptive prior has one only.

    ``default`` is that of the function that was called, which every prior takes.
    """
    check_option("covariance", covariance, COVARIANCES)
    if isinstance(prior, AdaptivePrior) and covariance not in ("common", default):
        raise ValueError(
            f"covariance must be 'common' for the adaptive prior, got {covariance!r}; "
            "a NormalInverseWishart has all three"
        )


def project(prior, rows: Rows, w, score, covariance):
    """The prior's answers for the scores ``rows.X @ w``.

    Parameters
    ----------
    prior : AdaptivePrior or NormalInverseWishart
    rows : Rows
    w : ndarray of shape (P,)
    score : ndarray of shape (n,)
        ``rows.X @ w``, computed once by the caller.
    covariance : {"common", "spherical", "separate"}
    """
    if isinstance(prior, AdaptivePrior):
        return data_model(prior, rows).along(w, score)

    def learn():
        return prior.learn(rows.X, rows.positive, rows.weight, covariance=covariance)

    features = None
    if covariance == "spherical":  # sums over the rows that all candidates share
        features = rows.kept("class traces", lambda: learn().features)
    learnt = LearntConjugate(prior, rows.positive, rows.weight, covariance, features)
    return learnt.project(w, score)


def of_one_feature(prior, score, positive, weight, covariance):
    """The prior's answers for a score seen as one feature; None if it ranks nothing."""
    check_counts(weight, positive)
    rows = Rows.of(score[:, None], positive, weight)
    score = rows.X[:, 0]
    reason = ranks_nothing(np.ones(1), score)
    if reason is not None:
        warn_undefined(reason)
        return None
    return project(prior, rows, np.ones(1), score, covariance)


def ranks_nothing(w, score) -> str | None:
    """Why a score ranks no rows, as half a sentence; None if it does."""
    if not np.any(w):
        return "the coefficients are all 0"
    low, high = score.min(), score.max()
    if high - low <= _SAME * max(-low, high):
        return "all scores are equal"
    return None


def warn_undefined(reason) -> None:
    """Warn that an AUC is ½ because nothing is ranked."""
    warn_caller(
        f"The AUC is undefined and set to 1/2 because {reason}", UndefinedMetricWarning
    )
