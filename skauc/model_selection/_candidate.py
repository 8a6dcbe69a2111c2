"""One candidate among others: its posterior, and what its errors share with theirs.

Candidates differ by what lies half way between the model of the data set and their
*selection scores*, what a search ranks by; the level is that of their posteriors. In
probits, for the adaptive prior on rows that trained the models, with m of the model of
the data set, z of the rows left out and their weight w_c in the selection score,

    choice_i = m_i + 2 c_i,   c_i = w_c (z_i − m_i)/2,   E Z_i = level + m_i + c_i,
    Cov(Z_i, Z_j) = Σ_cells weight (μ_i − m_i)(μ_j − m_j) + σ_i σ_j ρ_ij + c_i c_j,

with μ the cells' means, σ the spread inside them (:mod:`skauc.adaptive._beliefs`) and ρ
the correlation of the scores of the rows within the classes: two models that rank all
rows alike have no difference to be unsure of. The last term is the weight of the rows
left out: where the two sources agree on a difference nothing is added, where they do
not, one standard deviation down is the model, one up the selection score. A candidate
of which no row was left out has no z: its c_i is as unsure as those of the others
differ, and shared as far as ρ goes.

Where rows are separated the model's probits spread without bound, which the posterior
of an AUC near 1 does not: no embedding is longer than the posterior's standard
deviation. A model that ranks nothing has the AUC ½ for sure, whatever the others do.

Held-out rows have DeLong's covariance of their empirical AUCs, a conjugate prior its
spread times ρ. All of these are products of vectors, the candidate's *embedding*, whose
distances are standard deviations of differences. What the rows are of it is as long as
the scores are many; of a search's candidates only the direction of the scores is kept,
and the products of their rows are added up block by block
(:mod:`skauc.model_selection._score_correlation`).

The embedding was chosen on 105 simulated problems, seeds below 500, families l2, l1,
SelectKBest, PCA, two and all of them together; expected loss over real loss and mean
log P(best) of the best: 1.23 (.19), −1.59; one variance a candidate times ρ instead of
the cells 1.78, −1.56; without the last term .92, −1.96, and .57 to .66 where PCA takes
part. Half way: 465 other problems (seeds 100 to 171), where E Z_i = choice_i and the
last term of its size, w_c (z_i − m_i), were too sure, most of candidates unlike all
others (two to five principal components), whose rows left out are the luckiest of many:
said .49, .04 were the best. Gain in mean log P(best): simulated +.065 (.012), real
P < n +.039 (.013), P ≥ n −.013 (.020); expected loss over real loss stays, 1.13 and
1.14 (.13). With 1.5 c_i or 2 c_i in the last term +.080 (.012), +.087 (.013), but
ratios of 1.22 and 1.32; all variances 1.5 times as large +.039 (.010), 1.60.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..adaptive._beliefs import beliefs
from ..adaptive._join import CONTRAST, ENOUGH_REFITS, source_variance
from ..adaptive._learnt import LearntProjection
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._joint_aucs import JointAUCs
from ..statistics._ranks import placements
from . import _reasons as say
from ._model_posterior import ModelPosterior
from ._score_correlation import Direction, correlation
from ._warnings import warn_of

CONTRASTS = 32  # coordinates of a sketch: distances are right to an eighth
_BLOCK = 2**14  # rows whose directions are drawn at once: 4 MB
_ROUNDING = 1e-13  # of scores, times their size: 450 ulp, of sums over 10⁵ features
_FLAT = 4.0  # probits beyond which V/φ² grows without telling more, as in the join


@dataclass(frozen=True, eq=False)
class Candidate:
    """What a joint posterior needs of one model.

    Parameters
    ----------
    posterior : AUCPosterior
    choice : float
        Selection score, in probits.
    cells : ndarray
        Part of the embedding that the cells of the model of the data set are.
    rows : ndarray of shape (n,) or Direction
        The part that the rows are.
    shift : float
        c; half of what the choice is off the model of the data set.
    heard : bool
        Whether rows left out say something of this model alone.
    luck : float
        Standard deviation of what the choice owes to the luck of the rows left out.
    held_out : bool, default=False
        Whether the rows did not train the model.
    """

    posterior: AUCPosterior
    choice: float
    cells: np.ndarray
    rows: np.ndarray | Direction
    shift: float
    heard: bool
    luck: float
    held_out: bool = False

    @property
    def centre(self) -> float:
        """What the differences to others are means of: half way to the model."""
        return self.choice - self.shift

    @property
    def ranks(self) -> bool:
        """Whether it ranks the rows at all; of others the AUC is ½ for sure."""
        return isinstance(self.rows, Direction) or bool(self.rows.any())

    @property
    def length(self) -> float:
        """Of the part that the rows are."""
        if isinstance(self.rows, Direction):
            return self.rows.length
        return float(np.linalg.norm(self.rows))

    def sketch(self, size) -> np.ndarray:
        """The embedding in few coordinates that keep distances, (size,).

        The first is c; the others are random projections of the cells and the rows,
        the same for all candidates (Johnson & Lindenstrauss 1984): a distance is right
        to ``1/√(2(size − 1))`` of itself. The part that the rows are must be there.
        """
        assert isinstance(self.rows, np.ndarray)
        rng, out = np.random.default_rng(0), np.zeros(size - 1)
        for part in (self.rows, self.cells):
            for block in np.array_split(part, len(part) // _BLOCK + 1):
                # The generator's seed makes the projection that of all candidates.
                out += block @ rng.standard_normal((len(block), size - 1))
        return np.append(self.shift, out / np.sqrt(size - 1))


def candidate(asked: ModelPosterior, *, once=True, shared=None) -> Candidate:
    """A model as a candidate.

    Parameters
    ----------
    asked : ModelPosterior
    once : bool, default=True
        Whether what makes the number doubtful is said once a data set.
    shared : SharedRows, default=None
        Rows of the search; a direction in them is kept in place of n scores.

    Returns
    -------
    Candidate
    """
    posterior = asked.auc(once=once)
    choice, scored, none = posterior.choice("probit"), asked.scored, np.zeros(0)
    if asked.projection is None:  # ½ for sure
        still = np.zeros(len(scored.score))
        return Candidate(posterior, choice, none, still, 0.0, True, 0.0)
    deviation = float(np.sqrt(posterior.probit_moments()[1]))
    if asked.rows == "held-out":
        rows = deviation * _unit(_of_placements(scored))
        return Candidate(posterior, choice, none, rows, 0.0, False, deviation, True)
    model = asked.projection
    if not isinstance(model, LearntProjection) or posterior.choice_probit is None:
        # a conjugate posterior owes nothing to luck; one of true refits is an estimate
        luck = deviation if posterior.second_source is not None else 0.0
        rows = _along_scores(scored, deviation, shared)
        return Candidate(posterior, choice, none, rows, 0.0, False, luck)
    known = beliefs(model)
    heard = posterior.second_source is not None
    # √(|between|² + within²) is the model's deviation, the posterior's at most.
    length = np.hypot(known.within, np.linalg.norm(known.between))
    most = min(1.0, deviation / length)
    return Candidate(
        posterior,
        choice,
        most * known.between,
        _along_scores(scored, most * known.within, shared),
        (choice - known.probit) / 2,
        heard,
        _luck(posterior, asked) if heard else 0.0,
    )


def contrast_names() -> list[str]:
    """Names of a sketch's coordinates in the results of a search."""
    return [f"contrast_{k:02d}" for k in range(CONTRASTS)]


def alike(candidates: list[Candidate], shared=None) -> np.ndarray:
    """ρ: how alike the candidates rank the rows, (m, m).

    Parameters
    ----------
    candidates : list of Candidate
    shared : SharedRows, default=None
        The rows of those that are directions.
    """
    return correlation([c.rows for c in candidates], shared)


def trained_some(candidates: list[Candidate]) -> bool:
    """Whether the rows trained some of the candidates and others not."""
    return len({c.held_out for c in candidates if c.ranks}) > 1


def joint_aucs(candidates: list[Candidate], rho=None) -> JointAUCs:
    """Joint posterior of some candidates of one data set.

    Parameters
    ----------
    candidates : list of Candidate
        On the same rows.
    rho : ndarray of shape (m, m), default=None
        ``alike(candidates)``, if it is there.

    Returns
    -------
    JointAUCs

    Warns
    -----
    UntrustedAUCWarning
        If the rows trained some of them and others not.
    """
    if trained_some(candidates):
        warn_of(say.trained_by_some())
    # m_i + c_i = choice_i − c_i
    centre = np.array([c.centre for c in candidates])
    moments = np.array([c.posterior.probit_moments() for c in candidates])
    V = covariance(candidates, alike(candidates) if rho is None else rho)
    ranks = np.array([c.ranks for c in candidates])
    if not ranks.any():
        return JointAUCs(centre, V)
    # the level, which cancels in differences: what the posteriors are wider by
    common = max(float((moments[:, 1] - np.diag(V))[ranks].mean()), 0.0)
    # E Z_i = level + m_i + c_i, the mean of the posteriors' own; ½ stays ½.
    level = (moments[:, 0] - centre)[ranks].mean()
    return JointAUCs(centre + level * ranks, V + common * np.outer(ranks, ranks))


def covariance(candidates: list[Candidate], rho) -> np.ndarray:
    """Covariance of the candidates but for what they share, (m, m)."""
    inside = np.array([c.length for c in candidates])
    spread = np.array([np.linalg.norm(c.cells) for c in candidates])
    # of several feature spaces the cells are not the same
    cells = np.outer(spread, spread) * rho
    n_cells = np.array([len(c.cells) for c in candidates])
    for size in np.unique(n_cells):  # one model of one data set
        mine = np.flatnonzero(n_cells == size)
        part = np.array([candidates[i].cells for i in mine])
        # Σ_cells weight (μ_i − m_i)(μ_j − m_j)
        cells[np.ix_(mine, mine)] = part @ part.T
    # + σ_i σ_j ρ_ij
    V = np.outer(inside, inside) * rho + cells
    ranks = np.array([c.ranks for c in candidates])
    heard = ranks & np.array([c.heard for c in candidates])
    if not heard.any():
        return V
    shift = np.array([c.shift for c in candidates])
    # + c_i c_j, less their mean, which is no difference; of those without a source the
    # variance of the others' c, shared as far as ρ goes
    apart = np.where(heard, shift - shift[heard].mean(), 0.0)
    unknown = np.outer(~heard, ~heard) * shift[heard].var()
    return V + np.outer(apart, apart) + unknown * rho


def luck(candidates: list[Candidate], rho) -> np.ndarray:
    """Covariance of what the selection scores owe to luck, (m, m)."""
    spread = np.array([c.luck for c in candidates])
    return np.outer(spread, spread) * rho


def _luck(posterior, asked):
    """``w_c² s_b``: the rows left out enter with w_c, and w_c of that is not shrunk.

    On the problems above the winner's posterior mean is too high by .0061 (.0012) more
    than the candidates' on the average, for which this says .0048.
    """
    weight = CONTRAST
    if posterior.second_source == "refits":
        # w_c = ½ min(1, R/20) of R refits, as in the join
        weight *= min(1.0, (asked.prior.refits or ENOUGH_REFITS) / ENOUGH_REFITS)
    eigen = asked.projection.learnt.model.eigen
    at = np.clip(posterior.probit_moments()[0], -_FLAT, _FLAT)
    return float(weight**2 * np.sqrt(source_variance(at, eigen.n_neg, eigen.n_pos)))


def _along_scores(scored, length, shared):
    """The part that the rows are: along the scores, less their class means."""
    deviation = _within_classes(scored)
    rounding = _ROUNDING * np.abs(scored.score).max()
    # Scores that differ by rounding only rank no row within a class.
    varies = np.abs(deviation).max() > rounding
    if varies and shared is not None and shared.give(scored.Z, scored.w):
        return Direction(scored.w / np.linalg.norm(deviation), length)
    return length * _unit(deviation if varies else _alike(scored))


def _within_classes(scored):
    """Deviations of the scores from their class means, times the weights' roots."""
    weight = np.ones(len(scored.score)) if scored.weight is None else scored.weight
    out = np.zeros(len(scored.score))
    for part in (scored.positive, ~scored.positive):
        mean = np.average(scored.score[part], weights=weight[part])
        out[part] = scored.score[part] - mean
    return np.sqrt(weight) * out


def _of_placements(scored):
    """Each row's part of the empirical AUC: products are DeLong's covariances."""
    weight = np.ones(len(scored.score)) if scored.weight is None else scored.weight
    pos, out = scored.positive, np.zeros(len(scored.score))
    sides = placements(scored.score[~pos], scored.score[pos], weight[~pos], weight[pos])
    for part, placed in zip((~pos, pos), sides, strict=True):
        w = weight[part]
        # √w (V − A)/n_c: products add up to DeLong's covariance but for n/(n − 1).
        gap = placed - np.average(placed, weights=w)
        out[part] = np.sqrt(w) * gap / w.sum()
    return out if out.any() else _alike(scored)


def _alike(scored):
    """The part of scores that do not vary within the classes: roots of the weights.

    All models with such scores rank all rows alike, and none of what deviations from
    class means tell apart.
    """
    weight = scored.weight
    return np.ones(len(scored.score)) if weight is None else np.sqrt(weight)


def _unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector
