"""From scores to a number: the posterior of one data set, asked about one model."""

from __future__ import annotations

from dataclasses import dataclass

from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import project
from ..intervals._warn_caller import warn_caller
from ..posterior._auc_posterior import AUCPosterior
from ._linear_model import LinearModel
from ._scored_model import ScoredModel, score_model, score_pairs
from ._training_objective import REARRANGED, leave_pair_out_estimate
from ._warnings import UntrustedAUCWarning


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """Posterior of the scores of one model.

    Parameters
    ----------
    scored : ScoredModel
    prior : AdaptivePrior or NormalInverseWishart
    projection : posterior or None
        Of the scores; None when they rank nothing: then the AUC is ½.
    """

    scored: ScoredModel
    prior: object
    projection: object

    @property
    def uses_leave_pair_out(self) -> bool:
        """Whether the leave-pair-out AUC is wanted beside the prior."""
        return isinstance(self.prior, AdaptivePrior) and self.prior.leave_pair_out

    def auc(self) -> AUCPosterior:
        """Posterior of the AUC, with leave-pair-out where it is wanted and known."""
        if self.projection is None:
            return AUCPosterior.point_mass_at_half()
        if not self.uses_leave_pair_out:
            return self.projection.auc()
        return self.projection.auc(_rows_left_out(self.scored))

    def error(self) -> float:
        """Bayesian error estimate at the model's own threshold."""
        threshold, share_pos = self.scored.threshold, self.scored.share_pos
        if self.projection is None:  # every row gets the same answer
            constant = self.scored.score[0] > threshold
            return float(1 - share_pos if constant else share_pos)
        return self.projection.error(threshold, share_pos)

    def ebauc(self, thresholds) -> float:
        """EBAUC over the ``"scores"`` of the rows, or over ``"all"`` thresholds."""
        if self.projection is None:
            return 0.5
        if thresholds == "all":
            return self.projection.ebauc()
        score, weight = self.scored.score, self.scored.weight
        return self.projection.ebauc(score if weight is None else score[weight > 0])


def model_posterior(
    opened: LinearModel, y, *, prior, covariance, sample_weight, pos_label
) -> ModelPosterior:
    """Posterior of a linear model of two classes on some rows.

    Parameters
    ----------
    opened : LinearModel
    y : array-like of shape (n,)
    prior : AdaptivePrior or NormalInverseWishart
    covariance : {"common", "spherical", "separate"}
    sample_weight : array-like of shape (n,) or None
    pos_label : label or None

    Returns
    -------
    ModelPosterior
    """
    scored = score_model(opened, y, sample_weight, pos_label)
    return posterior_of_scores(scored, prior, covariance)


def pair_posteriors(
    opened: LinearModel, y, *, prior, covariance, sample_weight, pos_label
) -> dict[tuple, ModelPosterior]:
    """Posteriors of all pairs of classes, each on its own rows.

    Parameters
    ----------
    opened, y, prior, covariance, sample_weight, pos_label
        As for :func:`model_posterior`.

    Returns
    -------
    dict of (label, label) to ModelPosterior
    """
    return {
        name: posterior_of_scores(scored, prior, covariance)
        for name, scored in score_pairs(opened, y, sample_weight, pos_label)
    }


def posterior_of_scores(scored: ScoredModel, prior, covariance) -> ModelPosterior:
    """Posterior of scores that are there already."""
    projection = project(
        prior,
        scored.Z,
        scored.w,
        scored.score,
        scored.positive,
        scored.weight,
        covariance,
    )
    return ModelPosterior(scored, prior, projection)


def _rows_left_out(scored):
    """Leave-pair-out of the model on these rows, or None."""
    if scored.model is None:
        return None
    rows = scored.second_class
    second = leave_pair_out_estimate(scored.model, scored.front, rows, scored.weight)
    if second is not None:
        REARRANGED.remember(scored.model, rows, scored.score)
    elif REARRANGED.recall(scored.model, rows, scored.score):
        warn_caller(
            f"The rows have the labels and the mean score of those that trained "
            f"the {type(scored.model).__name__}, but are not those rows: permuted "
            "training rows are neither training nor held-out rows, and their AUC "
            "must not be compared with the one of the training rows, which heard "
            "leave-pair-out; take held-out rows, or make_cbauc_scorer(prior="
            "AdaptivePrior(leave_pair_out=False)) for both",
            UntrustedAUCWarning,
        )
    return second
