"""A question about the AUC of a fitted model, and the evaluation that answers it.

An :class:`Evaluation` combines three results: whether the rows trained the model, the
posterior under the model of the data set, and the AUC of rows left out of the fit. A
scorer ranks by the model of the data set alone. A report (``auc_posterior``) leaves
rows out, and refits the model where no closed form exists.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ..adaptive._join import CONTRAST, DataSize, posterior_of_source
from ..adaptive._prior import AdaptivePrior
from ..intervals._auc_estimate import score_variance
from ..intervals._projection import (
    check_covariance,
    check_prior,
    project,
    ranks_nothing,
    warn_undefined,
)
from ..intervals._sample import Sample as ScoreSample
from ..leave_pair_out._left_out import Source
from ..posterior._auc_posterior import AUCPosterior, point_mass_at_half, shifted
from ..statistics._checks import check_option
from ..statistics._levels import shrunk_auc
from ..statistics._rows import Rows
from ..statistics._weights import NOT_COUNTS, are_counts
from . import _doubts as doubts
from ._left_out_rows import rows_left_out
from ._verdict import ASSUMED, HELD_OUT
from .reading._fitted_model import FittedModel
from .reading._opened_model import NotLinearError

ROWS = ("auto", "training", "held-out")


@dataclass(frozen=True)
class Question:
    """A question about the AUC of a fitted model; its options are checked.

    Parameters
    ----------
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
    covariance : {"common", "separate"}, default="common"
        Covariance of a NormalInverseWishart.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows trained the model.
    pos_label : label, default=None
        None takes ``classes_[1]``.
    groups : array-like of shape (n,), default=None
        Group of each row; only for the adaptive prior.
    left_out : {"none", "closed form", "fits"}, default="none"
        How rows may be left out of the model: not at all (a scorer), in closed form, or
        by fits where no closed form exists (a report).
    """

    prior: Any = "adaptive"
    covariance: str = "common"
    rows: str = "auto"
    pos_label: Any = None
    groups: Any = None
    left_out: str = "none"

    def __post_init__(self):
        object.__setattr__(self, "prior", check_prior(self.prior))
        check_covariance(self.prior, self.covariance)
        check_option("rows", self.rows, ROWS)
        left_out = self.adaptive and self.prior.leave_pair_out
        if self.groups is not None and not left_out:
            raise ValueError(
                "groups must be None for a conjugate prior or leave_pair_out=False, "
                "which take all rows for independent, got groups"
            )

    @property
    def adaptive(self) -> bool:
        """Whether the prior is the adaptive one."""
        return isinstance(self.prior, AdaptivePrior)

    @property
    def is_report(self) -> bool:
        """Whether fits may be made for the AUC of rows left out."""
        return self.left_out == "fits"


@dataclass(frozen=True, eq=False)
class Sample:
    """All rows that the rows of a model stand for, and their scores.

    Parameters
    ----------
    model : FittedModel
        On the rows of the sample.
    all_rows : Rows
        All rows in front of the linear model; those of the model if they are all.
    score : ndarray of shape (n,)
        Scores of all rows.
    """

    model: FittedModel
    all_rows: Rows
    score: np.ndarray

    @property
    def is_all(self) -> bool:
        """Whether the sample holds all rows."""
        return self.all_rows is self.model.front

    @property
    def scores_as_feature(self) -> Rows:
        """All rows with their score as the only feature."""
        return replace(self.all_rows, X=self.score[:, None])

    @property
    def size(self) -> DataSize:
        """Weights of both classes and number of entered features."""
        front = self.model.front
        return DataSize(front.n_neg, front.n_pos, self.model.rows.shape[1])

    @cached_property
    def probit_shift(self) -> float:
        """Probit of the AUC of all scores, less that of the scores of the sample."""
        if self.is_all:
            return 0.0
        pairs = (self.all_rows, self.score), (self.model.front, self.model.score)
        of_all, of_sample = (self.size.probit(rows.auc(s)) for rows, s in pairs)
        return of_all - of_sample

    @cached_property
    def fit(self):
        """Objective and optimum on the rows of the model; None if unknown.

        For a sample: its own objective, at the direction of the fit to all rows.
        """
        model, w = self.model, self.model.w_front
        fit = model.fit
        if fit is None or self.is_all or not w.any():
            return fit
        return replace(fit, coef=w * (w @ fit.coef) / (w @ w))

    def of_all_rows(self, source):
        """A source of clones of the sample, as one of clones of all rows.

        A fit to n rows has an AUC c/n below that of the best model on new rows, and c/n
        above it on its own rows. Clones of n_s sampled rows are c/n_s below, and the
        model loses ``2c/n = (2 n_s/n)(c/n_s)`` from these rows to new ones.
        """
        if self.is_all:
            return source
        auc = self.model.front.auc(self.model.score)
        share = _size(self.model.positive) / _size(self.all_rows.positive)
        lost = min(2 * share, 1.0) * max(auc - source.auc, 0.0)
        return replace(source, auc=auc - lost)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One model on given rows: the posterior of its AUC, and doubts about it.

    Parameters
    ----------
    sample : Sample
        The model, and what its rows stand for.
    question : Question
    verdict : str
        Whether the rows trained the model.
    """

    sample: Sample
    question: Question
    verdict: str

    @cached_property
    def model(self) -> FittedModel:
        """The model."""
        return self.sample.model

    @property
    def held_out(self) -> bool:
        """Whether the rows did not train the model."""
        return self.verdict.startswith("held-out")

    @cached_property
    def reason_unranked(self) -> str | None:
        """Why the scores do not rank rows, as half a sentence; None if they do."""
        model = self.model
        return ranks_nothing(model.w_front, model.score, model.estimator)

    @cached_property
    def projection(self):
        """Posterior along the direction of the model; None if it does not rank rows.

        The adaptive prior uses the features that entered, a conjugate prior those in
        front of the linear model. For held-out rows the score is the only feature.
        """
        if self.reason_unranked is not None:
            return None
        model, sample, question = self.model, self.sample, self.question
        rows, w, score = sample.all_rows, model.w_front, sample.score
        if self.held_out:
            rows, w = sample.scores_as_feature, np.ones(1)
        elif question.adaptive:
            rows, w, score = model.rows, model.w, model.score
        return project(question.prior, rows, w, score, question.covariance)

    @property
    def shift(self) -> float:
        """Probit from the AUC of the sample to that of all rows; 0 if all were used."""
        of_sample = self.question.adaptive and not self.held_out
        return self.sample.probit_shift if of_sample else 0.0

    @cached_property
    def _source_and_reasons(self) -> tuple:
        """The AUC of rows left out, and doubts about it."""
        unranked = self.reason_unranked is not None
        if self.held_out or not self.question.adaptive or unranked:
            return None, []
        return rows_left_out(self)

    @property
    def source(self) -> Source | None:
        """The AUC of rows left out; None if there is none."""
        return self._source_and_reasons[0]

    @cached_property
    def posterior(self) -> AUCPosterior:
        """Posterior of the AUC with all doubts about it."""
        if self.reason_unranked is None:
            posterior = replace(self._joined(), warnings=tuple(self.doubts))
        else:
            warn_undefined(self.reason_unranked)
            posterior = point_mass_at_half()
        label = self.model.pos_label
        return replace(posterior, rows=self.verdict, pos_label=label)

    @property
    def choice(self) -> float:
        """Ranking score in probits, refits only if requested."""
        ranks = self.question.adaptive and not self.held_out
        if not ranks or self.reason_unranked is not None or self.without_model:
            return self.posterior.choice("probit")
        return self._choice_by_model + self.shift

    @property
    def _choice_by_model(self):
        """The model of the data set, or ``m + w_c (z − m)`` with requested refits."""
        m, source = self.projection.rank, self.source
        if source is None or not self.question.prior.refits:
            return m
        return m + self.projection.towards(source, CONTRAST)

    @property
    def without_model(self):
        """Whether only rows left out speak: the model is wrong, or there is none."""
        source = self.source
        return source is not None and (source.alone or self.model.broken_by is not None)

    def _joined(self):
        """Posterior from the model of the data set, rows left out, or held-out rows."""
        if not self.question.adaptive:
            return self.projection.auc()
        if self.held_out:
            empirical = _empirical(self.sample.scores_as_feature)
            return posterior_of_source(empirical, self.sample.size)
        source = self.source
        if self.without_model:
            posterior = posterior_of_source(
                source,
                self.sample.size,
                leave_pair_out=source.auc,
                second_source=source.method,
            )
        else:
            posterior = self.projection.auc(source)
            posterior = replace(posterior, choice_probit=self._choice_by_model)
        return shifted(posterior, self.shift)

    @cached_property
    def doubts(self) -> list:
        """Reasons not to trust the AUC, a sentence each."""
        model, front = self.model, self.model.front
        out: list[str] = []
        report = self.question.is_report
        if report or not self.held_out:  # the score of a fold has no interval
            out += doubts.few_rows(front)
        out += self._doubts_of_weights()
        if not self.question.adaptive:
            return out
        out += self._doubts_of_verdict()
        if self.held_out:
            return out
        if (sampler := model.scored.opened.resampled_by) is not None:
            out.append(doubts.RESAMPLED.format(name=sampler))
        if front.group is None:
            out += doubts.split_by_groups(model.estimator)
        # the weights of a sample are not copies, and other scores leave no rows out
        if self.sample.is_all and self.question.left_out != "none":
            out += doubts.copies_of(model)
        source, reasons = self._source_and_reasons
        out += reasons
        if model.broken_by is not None:
            out += doubts.without_closed_form(model, source)
        n, P = model.rows.n, model.rows.shape[1]
        left_out = report and self.question.prior.leave_pair_out
        if source is None and P >= n and left_out and not reasons:
            out.append(doubts.NO_ROWS_LEFT_OUT.format(n_features=P, n=n))
        return out

    def _doubts_of_verdict(self):
        known = {HELD_OUT: doubts.JUDGED_HELD_OUT, ASSUMED: doubts.ROWS_ASSUMED}
        asks = self.question.adaptive and self.reason_unranked is None
        sentence = known.get(self.verdict) if asks else None
        return [] if sentence is None else [sentence.format(name=self.model.name)]

    def _doubts_of_weights(self):
        rows = self.sample.all_rows
        # variances over groups do not depend on the scale of weights
        plain = not rows.weighted and max(rows.raised) == 1
        if plain or self.model.front.group is not None:
            return []
        given = rows.weight / np.where(rows.positive, *rows.raised[::-1])
        return [] if are_counts(given) else [NOT_COUNTS]

    def warn(self, *, once=False) -> None:
        """Issue the doubts as warnings; ``once`` per data set, for a search."""
        known = self.doubts if self.reason_unranked is None else []
        model = self.model
        # the decisions of a curved model do not tell data sets apart
        rows = model.scored.content if model.linear is None else model.front
        doubts.warn(known, rows if once else None, model.score)

    def error(self) -> float:
        """Bayesian error estimate at the model's own threshold."""
        self._warn_of_score()
        model, share_pos = self.model, self.model.front.share_pos
        if self.projection is None:  # all rows get the same prediction
            called_positive = model.score[0] > model.threshold
            return float(1 - share_pos if called_positive else share_pos)
        # BEE = π₀ FPR + π₁ (1 − TPR)
        fpr, tpr = self.projection.rates(model.threshold)
        return float((1 - share_pos) * fpr + share_pos * (1 - tpr))

    def ebauc(self, thresholds) -> float:
        """EBAUC over the ``"scores"`` of the rows, or over ``"all"`` thresholds."""
        self._warn_of_score()
        if self.projection is None:
            return 0.5
        scores = None if thresholds == "all" else self.model.score
        value = self.projection.ebauc(scores)
        return float(ndtr(ndtri(value) + self.shift)) if self.shift else value

    def _warn_of_score(self):
        """Issue the doubts about a score that comes without an interval."""
        model, reasons, name = self.model, [], self.model.broken_by
        if name is not None and not self.held_out:
            if model.linear is None:
                raise NotLinearError(
                    f"{name} is not linear, so that this score needs rows that did not "
                    "train it: use skauc.cbauc_scorer, which leaves rows out by folds"
                )
            reasons.append(doubts.CLOSED_FORM_ANYWAY.format(name=name))
        reasons += self._doubts_of_weights() + self._doubts_of_verdict()
        doubts.warn(reasons, model.front, model.score)


def _empirical(rows) -> Source:
    """Empirical AUC of held-out scores, with the variance of its score interval."""
    weight = rows.weight if rows.weighted else None
    [scores] = ScoreSample.split([rows.X[:, 0]], rows.positive, weight, rows.group)
    # an AUC of 0 or 1 must not have variance 0
    variance = score_variance(scores)(shrunk_auc(scores.auc, rows.n))
    return Source(scores.auc, float(variance), "empirical")


def _size(positive):
    """``n₀ n₁/(n₀ + n₁)``, to which the precision of a mean difference is in ratio."""
    n, n_pos = len(positive), np.count_nonzero(positive)
    return n_pos * (n - n_pos) / n
