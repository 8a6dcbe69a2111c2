"""One posterior of one direction ``s = Z @ w``, by the same steps whichever the prior.

The prior learns the rows, ``prior.learn(Z, positive, weight, covariance=…)``, and what
is learnt is projected on the direction, ``.project(w, score)``; the posterior of the
scores then answers ``.auc()``, ``.rates(t)``, ``.error(t, share_pos)``, ``.ebauc(t)``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import check_counts, check_option
from ..adaptive._cache import CACHE
from ..adaptive._prior import AdaptivePrior, fingerprint
from ..posterior._conjugate import COVARIANCES, LearntConjugate, NormalInverseWishart
from ._warn_caller import warn_caller

# Scores that differ by less are equal: a product of P terms rounds some of this.
_SAME = 64 * np.finfo(float).eps
_PRIORS = {"adaptive": AdaptivePrior(), "paper": NormalInverseWishart()}


def check_prior(prior):
    """Prior object behind a word; anything else is an error."""
    if isinstance(prior, str) and prior in _PRIORS:
        return _PRIORS[prior]
    if not isinstance(prior, AdaptivePrior | NormalInverseWishart):
        raise ValueError(
            "prior must be 'adaptive', 'paper', an AdaptivePrior or a "
            f"NormalInverseWishart, got {prior!r}"
        )
    return prior


def project(prior, Z, w, score, positive, weight, covariance, sketch=None):
    """Posterior of the scores ``Z @ w``; None, with a warning, if they rank nothing.

    Parameters
    ----------
    prior : AdaptivePrior or NormalInverseWishart
    Z : ndarray or sparse matrix of shape (n, P)
    w : ndarray of shape (P,)
    score : ndarray of shape (n,)
        ``Z @ w``, computed by the caller, once.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    covariance : {"common", "spherical", "separate"}
    sketch : ndarray of shape (P,), default=None
        Of Z (:mod:`skauc.statistics._sketch`), if it is known.

    Returns
    -------
    posterior or None
    """
    check_option("covariance", covariance, COVARIANCES)
    check_counts(weight, positive)
    reason = ranks_nothing(w, score, weight)
    if reason is not None:
        warn_caller(
            f"The AUC is undefined and set to 1/2 because {reason}",
            UndefinedMetricWarning,
        )
        return None
    learnt = _learnt(prior, Z, positive, weight, covariance, sketch)
    return learnt.project(w, score)


def _learnt(prior, Z, positive, weight, covariance, sketch):
    """What the prior learns; the sums over the rows are those of all candidates.

    The adaptive prior keeps its own. A conjugate one has some beside a spherical
    covariance alone: they cost two products with the rows, a fingerprint one.
    """
    learn = partial(prior.learn, Z, positive, weight, covariance=covariance)
    if not isinstance(prior, NormalInverseWishart):
        return learn(sketch=sketch)
    if covariance != "spherical" or Z.shape[1] == 1:
        return learn()
    key = "class traces", fingerprint(Z, positive, weight)
    features = CACHE.remember(key, lambda: learn().features)
    return LearntConjugate(prior, positive, weight, covariance, features)


def ranks_nothing(w, score, weight) -> str | None:
    """Why a score ranks no rows, as half a sentence; None if it does."""
    if not np.any(w):
        return "the coefficients are all 0"
    counted = score if weight is None or weight.all() else score[weight > 0]
    low, high = counted.min(), counted.max()
    if high - low <= _SAME * max(-low, high):
        return "all scores are equal"
    return None
