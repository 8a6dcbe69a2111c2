"""Candidates of a search: vectors whose inner products are covariances of AUCs.

Each candidate i has an estimate m_i in probits by the model of the data set, and z_i of
rows left out; for a model without them z_i is m_i. The joint posterior is centred one
sixth of the way from m_i to z_i, at ``m_i + c_i``, at the level of the reported
posteriors, with

    Cov(Z_i, Z_j) = Σ_k weight_k (μ_ik − μ̄_i)(μ_jk − μ̄_j) + σ_i σ_j ρ_ij + c_i c_j,

where μ_ik is the mean of component k of the model, σ_i the spread inside components
and ρ_ij the correlation of the scores within the classes, so that models with the same
ranking do not differ. The last term is the uncertainty of the rows left out. Where the
model of the data set is wrong, it is wrong along each direction in another way: μ_ik −
μ̄_i and σ_i are √3 times those of the model (chosen and judged: benchmarks/README.md),
but no candidate has a larger variance than its posterior or the report. Held-out
rows have DeLong's covariance of empirical AUCs, conjugate priors their spread times ρ.
"""

from dataclasses import dataclass

import numpy as np

from ..adaptive._join import CONTRAST
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._joint import JointAUCs, maximum_bias
from ..statistics._levels import row_placements
from . import _doubts as doubts
from ._evaluation import Evaluation

# How much wider differences are than under the model of the data set; chosen on half of
# the panel's data sets, judged on the others
_WIDER = np.sqrt(3.0)
# Deviations of a difference, and probits, beyond which rows left out contradict it
_FAR, _LEAST = 2.0, 0.01
_ROUNDING = 1e-13  # share of the scores below which differences are rounding


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model as a joint posterior of several models needs it.

    Parameters
    ----------
    posterior : AUCPosterior
    choice : float
        Ranking score, in probits.
    rows : ndarray of shape (n,)
        Deviations of Z inside the components, along the scores of the rows.
    between : ndarray
        Deviations of Z between the components.
    key : object
        Equal for candidates with the same model of the data set, and so components.
    shift : float
        ``choice − (m_i + c_i)``: −c_i of the module, or c_i if rows left out rank.
    has_source : bool
        Whether rows were left out of this model.
    luck : float
        Standard deviation of the error of the choice that comes from rows left out.
    held_out : bool
        Whether the rows did not train the model.
    free : bool or None
        Whether the intercept has no penalty; None if pairs were not left out.
    """

    posterior: AUCPosterior
    choice: float
    rows: np.ndarray
    between: np.ndarray | tuple = ()
    key: object = None
    shift: float = 0.0
    has_source: bool = False
    luck: float = 0.0
    held_out: bool = False
    free: bool | None = None

    @property
    def ranks(self) -> bool:
        """Whether the model ranks the rows; otherwise its AUC is certainly ½."""
        return bool(self.rows.any())


def candidate(evaluation: Evaluation) -> Candidate:
    """An evaluated model as a candidate."""
    posterior, model = evaluation.posterior, evaluation.model
    choice = evaluation.choice
    if evaluation.reason_unranked is not None:  # the AUC is certainly ½
        return Candidate(posterior, choice, np.zeros(len(model.score)))
    mean, variance = posterior.probit_moments()
    deviation = float(np.sqrt(variance))
    if evaluation.held_out:
        # products of the influences on the AUC are DeLong's covariances
        front, pos = model.front, model.positive
        placed = row_placements(model.score, pos, front.weight)
        placed /= np.where(pos, front.n_pos, front.n_neg)
        rows = deviation * _unit(_deviations(placed, front))
        return Candidate(posterior, choice, rows, luck=deviation, held_out=True)
    along = _unit(_deviations(model.score, model.front))
    source = evaluation.source
    alone = model.broken_by is not None or evaluation.without_model
    if not evaluation.question.adaptive or alone:
        # a conjugate posterior, or one from rows left out only
        luck = 0.0 if source is None else deviation
        return Candidate(posterior, choice, deviation * along, luck=luck)
    projection = evaluation.projection
    between, within = projection.beliefs
    # no candidate has a larger variance than its own posterior
    most = min(_WIDER, deviation / np.hypot(within, np.linalg.norm(between)))
    # c: half of w_c (z − m)
    luck, size = 0.0, projection.model.size
    shift = 0.0 if source is None else projection.towards(source, CONTRAST / 2)
    refits = evaluation.question.prior.refits
    pairs = source is not None and source.method == "leave-pair-out"
    if source is not None and refits:
        # an error of the source enters with w_c²: _search Notes
        luck = CONTRAST**2 * np.sqrt(size.excess(source) * size.variance(mean))
    return Candidate(
        posterior,
        choice,
        most * within * along,
        most * between,
        projection.model.key,
        shift=float(shift if refits else -shift),
        has_source=source is not None,
        luck=float(luck),
        free=model.fit.objective.free if pairs else None,
    )


def alike(candidates: list[Candidate]) -> np.ndarray:
    """ρ, correlation of the candidates' scores within the classes, (m, m)."""
    # ρ_ij = cos of the angle between centred scores
    vectors = np.array([_unit(c.rows) for c in candidates])
    return vectors @ vectors.T


def doubts_between(candidates: list[Candidate], V) -> list[str]:
    """Reasons not to trust differences of candidates of covariance V.

    A penalized or absent intercept leaves its work to w, along the mean of the rows:
    training scores hardly vary with it, so that the posterior does not see it.
    """
    out = []
    if len({c.held_out for c in candidates if c.ranks}) > 1:
        out.append(doubts.TRAINED_A_SUBSET)
    kinds = [
        [k for k, c in enumerate(candidates) if c.free is kind]
        for kind in (False, True)
    ]
    if all(kinds):
        a, b = (np.mean([candidates[k].shift for k in kind]) for kind in kinds)
        (i, *_), (j, *_) = kinds
        deviation = np.sqrt(max(V[i, i] + V[j, j] - 2 * V[i, j], 0.0))
        # what the shifts leave of the difference by rows left out
        if abs(a - b) * (2 / CONTRAST - 1) > max(_FAR * deviation, _LEAST):
            out.append(doubts.UNLIKE_INTERCEPTS)
    return out


def joint_aucs(candidates: list[Candidate], rho, reported=None) -> JointAUCs:
    """Joint posterior of candidates at the level of one of them, or at the mean level.

    Parameters
    ----------
    candidates : list of Candidate
    rho : ndarray of shape (m, m)
        ``alike(candidates)``.
    reported : int, default=None
        The candidate whose posterior is a report; None if all of them are.

    Returns
    -------
    JointAUCs

    Warns
    -----
    UntrustedAUCWarning
        For the reasons of :func:`doubts_between`.
    """
    # m_i + c_i: means of Z up to the common level
    centre = np.array([c.choice - c.shift for c in candidates])
    moments = np.array([c.posterior.probit_moments() for c in candidates])
    V = covariance(candidates, rho)
    doubts.warn(doubts_between(candidates, V))
    ranks = np.array([c.ranks for c in candidates])
    if not ranks.any():
        return JointAUCs(centre, V)
    level, known, same = moments[:, 0] - centre, ranks, ranks
    if reported is not None and ranks[reported]:
        # candidates of other features have another model, with another error
        key = candidates[reported].key
        same = ranks & np.array([c.key == key for c in candidates])
        known = np.arange(len(ranks)) == reported
        if key is not None:  # no error of that model is larger than the report's
            own, most = np.sqrt(np.diag(V)), np.sqrt(moments[reported, 1])
            shrunk = np.where(same, most / np.maximum(own, most), 1.0)
            V = V * np.outer(shrunk, shrunk)
    # variance that is missing in V: it belongs to the common level and cancels in
    # differences
    missing = moments[:, 1] - np.diag(V)
    common = max(float(missing[known].mean()), 0.0)
    others = ranks & ~same
    V = V + common * np.outer(same, same)
    V = V + np.diag(np.where(others, np.maximum(missing, 0.0), 0.0))
    return JointAUCs(centre + np.where(same, level[known].mean(), level) * ranks, V)


def covariance(candidates: list[Candidate], rho) -> np.ndarray:
    """Covariance of the candidates except for the common level, (m, m)."""
    inside = np.array([np.linalg.norm(c.rows) for c in candidates])
    spread = np.array([np.linalg.norm(c.between) for c in candidates])
    # components of different models of the data are not matched: ρ correlates them
    between = np.outer(spread, spread) * rho
    keys = [c.key for c in candidates]
    for key in set(keys) - {None}:
        mine = np.array([k for k, other in enumerate(keys) if other == key])
        vectors = np.array([candidates[k].between for k in mine])
        between[np.ix_(mine, mine)] = vectors @ vectors.T
    # σ_i σ_j ρ_ij + Σ_k weight_k (μ_ik − μ̄_i)(μ_jk − μ̄_j)
    V = np.outer(inside, inside) * rho + between
    known = np.array([c.ranks and c.has_source for c in candidates])
    if not known.any():
        return V
    shift = np.array([c.shift for c in candidates])
    # (c_i − c̄)(c_j − c̄): the mean c̄ is common and cancels in differences. A candidate
    # without a source has the variance of the other candidates' c, correlated by ρ.
    apart = np.where(known, shift - shift[known].mean(), 0.0)
    unknown = np.outer(~known, ~known) * shift[known].var()
    return V + np.outer(apart, apart) + unknown * rho


def selection_bias(candidates, selected, rho, n_resamples, random_state) -> float:
    """Mean error, by rows left out, of the ranking score of the selected candidate."""
    spread = np.array([c.luck for c in candidates])
    # without rows left out the selected score has no error that selection favours
    if spread[selected] == 0:
        return 0.0
    choice = np.array([c.choice for c in candidates])
    noise = np.outer(spread, spread) * rho
    return maximum_bias(choice, noise, n_resamples, random_state)


def _deviations(values, rows):
    """Values less their class means, times the roots of the weights."""
    out = np.zeros(len(values))
    for mask in (rows.positive, ~rows.positive):
        mean = np.average(values[mask], weights=rows.weight[mask])
        out[mask] = np.sqrt(rows.weight[mask]) * (values[mask] - mean)
    # constant within the classes: one vector for all such models
    if np.abs(out).max() <= _ROUNDING * np.abs(values).max():
        return np.sqrt(rows.weight)
    return out


def _unit(vector):
    """The vector divided by its length; 0 stays 0."""
    vector = vector / (np.abs(vector).max() or 1.0)
    return vector / (np.linalg.norm(vector) or 1.0)
