"""One candidate among others: the vectors whose products are covariances of AUCs.

Candidates differ by a point half way between the model of the data set and their
ranking scores; their common level is that of their posteriors. In probits, with m of
the model of the data set and c half of what the ranking score differs from it,

    choice_i = m_i + 2 c_i,   E Z_i = level + m_i + c_i,
    Cov(Z_i, Z_j) = Σ_k weight_k (μ_ik − μ̄_i)(μ_jk − μ̄_j) + σ_i σ_j ρ_ij + c_i c_j,

with μ the means of the components of the model (k), σ the spread inside them and ρ the
correlation of the scores within the classes: models that rank all rows alike do not
differ. The last term is the doubt about the rows left out. Held-out rows have DeLong's
covariance of their empirical AUCs, a conjugate prior its spread times ρ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..adaptive._join import CONTRAST
from ..adaptive._prior import AdaptivePrior
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._joint import JointAUCs
from ..statistics._levels import placements
from . import _doubts as doubts
from ._posterior import Evaluation

CONTRASTS = 32  # coordinates of a sketch: distances are right to an eighth
_BLOCK = 2**14  # rows whose random directions are drawn at once
_ROUNDING = 1e-13  # of the scores: smaller differences within a class are rounding


@dataclass(frozen=True, eq=False)
class Candidate:
    """What a joint posterior needs to know of one model.

    Parameters
    ----------
    posterior : AUCPosterior
    choice : float
        Ranking score, in probits.
    key : object
        Equal for candidates whose components belong to one model of one data set.
    between : ndarray
        Deviations of Z between the components.
    rows : ndarray of shape (n,)
        Deviations of Z inside them, along the scores of the rows.
    shift : float
        c.
    has_source : bool
        Whether rows were left out of this model.
    luck : float
        Standard deviation of the share of the choice that is luck of the rows left out.
    held_out : bool
        Whether the rows did not train the model.
    """

    posterior: AUCPosterior
    choice: float
    key: object
    between: np.ndarray
    rows: np.ndarray
    shift: float = 0.0
    has_source: bool = False
    luck: float = 0.0
    held_out: bool = False

    @property
    def centre(self) -> float:
        """Mean of Z up to the level: half way between the model and the choice."""
        return self.choice - self.shift

    @property
    def ranks(self) -> bool:
        """Whether the model ranks the rows; otherwise its AUC is ½ for sure."""
        return bool(self.rows.any())

    def sketch(self, size) -> np.ndarray:
        """The vectors in few coordinates that keep distances, of shape (size,).

        The first coordinate is c; the others are random projections, the same for all
        candidates (Johnson & Lindenstrauss 1984): a distance is right to
        ``1/√(2(size − 1))`` of itself.
        """
        rng, out = np.random.default_rng(0), np.zeros(size - 1)
        for vector in (self.rows, self.between):
            for block in np.array_split(vector, len(vector) // _BLOCK + 1):
                out += block @ rng.standard_normal((len(block), size - 1))
        return np.append(self.shift, out / np.sqrt(size - 1))


def candidate(evaluation: Evaluation) -> Candidate:
    """An evaluated model as a candidate."""
    posterior, model = evaluation.posterior, evaluation.model
    choice, none = posterior.choice("probit"), np.zeros(0)
    if evaluation.projection is None:  # ½ for sure
        return Candidate(posterior, choice, None, none, np.zeros(len(model.score)))
    deviation = float(np.sqrt(posterior.probit_moments()[1]))
    if evaluation.held_out:
        rows = deviation * _unit(_placements(model))
        return Candidate(
            posterior, choice, None, none, rows, luck=deviation, held_out=True
        )
    source, projection = evaluation.source, evaluation.projection
    alone = isinstance(evaluation.prior, AdaptivePrior) and model.broken_by is None
    if not alone:  # a conjugate posterior, or one that comes from refits alone
        rows = deviation * _unit(_deviations(model))
        luck = 0.0 if source is None else deviation
        return Candidate(posterior, choice, None, none, rows, luck=luck)
    between, within = projection.beliefs
    # the spread of the components may exceed that of the posterior near an AUC of 1
    most = min(1.0, deviation / np.hypot(within, np.linalg.norm(between)))
    luck = 0.0
    if source is not None:  # the rows left out enter the choice with w_c, shrunk by w_c
        s2 = projection.size.variance(posterior.probit_moments()[0])
        luck = CONTRAST**2 * np.sqrt(projection.size.excess(source) * s2)
    return Candidate(
        posterior,
        choice,
        projection.model.key,
        most * between,
        most * within * _unit(_deviations(model)),
        shift=(choice - projection.probit[0]) / 2,
        has_source=source is not None,
        luck=float(luck),
    )


def contrast_names() -> list[str]:
    """Names of a sketch's coordinates in the results of a search."""
    return [f"contrast_{k:02d}" for k in range(CONTRASTS)]


def alike(candidates: list[Candidate]) -> np.ndarray:
    """ρ: correlation of the candidates' scores within the classes, (m, m)."""
    vectors = np.array([_unit(c.rows) for c in candidates])
    return vectors @ vectors.T


def trained_some(candidates: list[Candidate]) -> bool:
    """Whether the rows trained some of the candidates and not others."""
    return len({c.held_out for c in candidates if c.ranks}) > 1


def joint_aucs(candidates: list[Candidate], rho=None) -> JointAUCs:
    """Joint posterior of candidates on the same rows.

    Parameters
    ----------
    candidates : list of Candidate
    rho : ndarray of shape (m, m), default=None
        ``alike(candidates)``, if it is known.

    Returns
    -------
    JointAUCs

    Warns
    -----
    UntrustedAUCWarning
        If the rows trained some of them and not others.
    """
    if trained_some(candidates):
        doubts.warn([doubts.trained_by_some()])
    centre = np.array([c.centre for c in candidates])
    moments = np.array([c.posterior.probit_moments() for c in candidates])
    V = covariance(candidates, alike(candidates) if rho is None else rho)
    ranks = np.array([c.ranks for c in candidates])
    if not ranks.any():
        return JointAUCs(centre, V)
    # the uncertainty of the common level, which cancels in differences
    common = max(float((moments[:, 1] - np.diag(V))[ranks].mean()), 0.0)
    level = (moments[:, 0] - centre)[ranks].mean()
    return JointAUCs(centre + level * ranks, V + common * np.outer(ranks, ranks))


def covariance(candidates: list[Candidate], rho) -> np.ndarray:
    """Covariance of the candidates but for the common level, (m, m)."""
    inside = np.array([np.linalg.norm(c.rows) for c in candidates])
    spread = np.array([np.linalg.norm(c.between) for c in candidates])
    # different models of the data share no components: their spread goes with ρ
    between = np.outer(spread, spread) * rho
    keys = [c.key for c in candidates]
    for key in set(keys) - {None}:
        mine = np.array([k for k, other in enumerate(keys) if other == key])
        vectors = np.array([candidates[k].between for k in mine])
        between[np.ix_(mine, mine)] = vectors @ vectors.T
    V = np.outer(inside, inside) * rho + between
    known = np.array([c.ranks and c.has_source for c in candidates])
    if not known.any():
        return V
    shift = np.array([c.shift for c in candidates])
    # c_i c_j less their mean, which is no difference; a candidate without a source has
    # the variance of the others' c, shared as far as ρ goes
    apart = np.where(known, shift - shift[known].mean(), 0.0)
    unknown = np.outer(~known, ~known) * shift[known].var()
    return V + np.outer(apart, apart) + unknown * rho


def luck(candidates: list[Candidate], rho) -> np.ndarray:
    """Covariance of the share of the ranking scores that is luck, (m, m)."""
    spread = np.array([c.luck for c in candidates])
    return np.outer(spread, spread) * rho


def _deviations(model):
    """Deviations of the scores from their class means, times the weights' roots."""
    weight, out = model.front.weight, np.zeros(len(model.score))
    for mask in (model.positive, ~model.positive):
        mean = np.average(model.score[mask], weights=weight[mask])
        out[mask] = np.sqrt(weight[mask]) * (model.score[mask] - mean)
    # scores that do not vary within a class rank all rows alike
    if np.abs(out).max() <= _ROUNDING * np.abs(model.score).max():
        return np.sqrt(weight)
    return out


def _placements(model):
    """Share of each row in the empirical AUC: products are DeLong's covariances."""
    weight, score, pos = model.front.weight, model.score, model.positive
    out = np.zeros(len(score))
    sides = placements(score[~pos], score[pos], weight[~pos], weight[pos])
    for mask, placed in zip((~pos, pos), sides, strict=True):
        w = weight[mask]
        out[mask] = np.sqrt(w) * (placed - np.average(placed, weights=w)) / w.sum()
    return out if out.any() else np.sqrt(weight)


def _unit(vector):
    """The vector with length 1, or 0."""
    vector = vector / (np.abs(vector).max() or 1.0)
    return vector / (np.linalg.norm(vector) or 1.0)
