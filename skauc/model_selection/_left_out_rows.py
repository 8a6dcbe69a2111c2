"""What rows left out say of the AUC of a model: one table of ways.

The first line that applies is taken; each way states its cost in fits.

=============================================  ==================================  ====
condition                                      way                                 fits
=============================================  ==================================  ====
``AdaptivePrior(refits=K)``                    samples or folds of the whole       K
                                               estimator, also in scorers
groups; smooth loss, L2; no step used y or     pairs of groups in closed form      0
adapted
groups, anything else                          repeated stratified folds of whole  20
                                               groups
forest or bagging, whose members drew these    pairs out of bag                    0
rows and left out .95 of the pairs; no step
used y or adapted
smooth loss, L2; no step used y or adapted     pairs in closed form                0
the same behind a step that began to adapt     these pairs, joined with folds of   20
                                               the whole estimator
another linear model; no step adapted          balanced .632+ samples of the       20
                                               whole estimator
three classes or more of linear models, a      repeated stratified folds of the    20
step that adapted itself to the rows, any      whole estimator
other classifier
=============================================  ==================================  ====

The numbers are those of a report of few rows: samples are 10 from 200 rows on and 5
from 500 rows on, folds 5 from 500 rows on, and a scorer, where no model of the data set
holds or there are groups, makes 5 fits. Rows left out with their groups speak alone:
the model of the data set takes rows for independent. A member of a bag that is not a
tree is fitted once more, to see that these rows are those of the fit, in this order.
A discriminant of automatic shrinkage with many features has samples, whose fits are
solved as ridges. Fits are never cached: a name does not tell the code of a class.

A step adapts itself to the rows if it projects on many components (PCA, truncated SVD,
Nyström), which then contain the noise of each row; folds rather than samples are needed
behind it, because these hold fewer distinct rows than components. Pairs left out behind
k components are off in one direction, folds, which know fewer rows, mostly in the other
one. So the weight of folds in a report grows in proportion to k, from 0 at n/16 to 1 at
7n/16; at n/4, ½, the other ways change from steps that stay to folds. This ramp was
chosen on half of 25 simulated designs (40 to 200 rows; noise, few signals, factors;
with and without whitening): against a change at n/4 the error of a report fell by
.0013 (standard error .0004), on the other half, which was looked at more than once, by
.0016 (.0005), on 70 sets that were drawn afterwards (few factors in noise) by .0030
(.0010), to .68, .81 and .69 of that of five folds. Folds alone from n/8 on won .0010
and .0001 (.0006, .0011). Leverages of the rows, in the penalty of the model or not,
decided no better than k/n, and it made no difference whether components were whitened.
"""

import logging
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
from scipy.special import ndtr
from sklearn.model_selection import StratifiedGroupKFold

from ..leave_pair_out._groups import FEWEST, auc_of_groups, sums_of_scores
from ..leave_pair_out._left_out import PairRows, Source, second_source
from ..leave_pair_out._objective import STOPPED
from ..leave_pair_out._out_of_bag import OF_CURVED, pairs_out_of_bag
from ..leave_pair_out._samples import (
    FOLDS,
    balanced_samples,
    canonical_order,
    plus_632,
    repeated_folds,
)
from ..statistics._levels import aucs, weighted_auc
from ..statistics._rows import Rows
from . import _doubts as doubts
from .reading._estimators import fitted_to_rows, in_parallel, take_rows
from .reading._fitted_model import ADAPTED
from .reading._objective_of import is_solved, solved
from .reading._opened_model import NOT_LINEAR, NotLinearError, decisions
from .reading._steps import has_frozen

# (rows, fits) of a report: AUCs of single samples vary more for fewer rows
_SAMPLES = ((200, 20), (500, 10), (np.inf, 5))
_FOLDS = ((500, 20), (np.inf, 5))
SCORER_FITS = 5  # of a scorer where no model of the data set holds
# Probits, and deviations, between the model of the data set and pairs left out, beyond
# which refits decide. In 976 fits to real rows 7 are beyond both, the model being wrong
_GAP, _UNEXPLAINED = 1.0, 2.5
_MEMBERS = 10  # members that compare a pair, below which chance decides
_LONG = 1.0  # seconds of a fit, beyond which the number of fits is announced

_log = logging.getLogger("skauc")


def rows_left_out(evaluation) -> tuple:
    """The AUC of rows left out of a model, and doubts about it.

    Parameters
    ----------
    evaluation : Evaluation
        Of rows that trained the model, by the adaptive prior.

    Returns
    -------
    source : Source or None
    reasons : list of str
    """
    sample, question = evaluation.sample, evaluation.question
    model, prior = sample.model, question.prior
    if model.front.group is not None:
        return _groups_left_out(sample, question)
    if prior.refits:
        return _beside_model(evaluation, *_by_fits(sample, question))
    pairs = prior.leave_pair_out
    source, few = out_of_bag(model) if pairs and sample.is_all else (None, [])
    if source is not None:
        return source, few
    if model.linear is None and (prior.refits == 0 or not pairs):
        raise NotLinearError(NOT_LINEAR.format(name=model.name))
    if not pairs:
        return None, []
    may_fit = question.is_report and prior.refits is None
    # folds of a sample say less of many rows than their own scores do
    may_fit = may_fit and (model.pair is None or sample.is_all)
    stays = can_stay(model, below=1.0 if may_fit else ADAPTED)
    if question.left_out != "none" and stays and sample.fit is not None:
        # the optimum of a sample is another
        how = {"moved": model.scored.moved} if sample.is_all else {"gradient": 0.0}
        source = second_source(sample.fit, model.front, **how)
        if source is not None:
            return _checked(evaluation, source, may_fit)
    # a scorer fits only where the model of the data set does not hold
    if may_fit or (prior.refits is None and model.broken_by is not None):
        source, reasons = _by_fits(sample, question)
        return _beside_model(evaluation, source, few + reasons)
    if model.saw_y is not None and prior.refits is not None:
        return None, [doubts.SUPERVISED_STEP.format(name=model.saw_y)]
    return None, []


def can_stay(model, below=ADAPTED):
    """Whether the steps in front may stay as they are when rows are left out."""
    used = model.saw_y is not None or model.broken_by is not None
    return not used and model.scored.adapted < below


def _groups_left_out(sample, question):
    """AUC of pairs of groups in closed form, or of folds of whole groups."""
    model, refits, found, reasons = sample.model, question.prior.refits, None, []
    if min(model.front.independent) < FEWEST:
        raise ValueError(
            f"groups must hold rows of each class in at least {FEWEST} groups, because "
            f"two are left out together, got {min(model.front.independent):g}"
        )
    if not refits and can_stay(model) and sample.fit is not None:
        found = second_source(sample.fit, model.front, moved=model.scored.moved)
    if found is None or found.departure > STOPPED:
        found, _ = (None, []) if refits == 0 else _by_fits(sample, question)
        if found is None:
            raise ValueError(
                f"groups can be left out of {model.name} by fits only, but none was "
                "made: refits=0 forbids them, a FrozenEstimator has none, an inner "
                "splitter may need the groups, or a fold may lack a class"
            )
        if not question.is_report and model.broken_by is None:
            reasons = [doubts.NO_CLOSED_FORM.format(name=model.name)]
    return replace(found, alone=True), reasons


def out_of_bag(model) -> tuple:
    """AUC of pairs of rows that members of an ensemble left out, and doubts about it.

    The AUC is None where such rows are not known, or too few.
    """
    bag = None if model.scored.group is not None else model.scored.bag
    if bag is None:
        return None, []
    place = np.full(len(model.scored.y), -1)
    place[model.which] = model.positive
    neg, pos = (np.flatnonzero(place[bag.rows] == side) for side in (0, 1))
    pairs = PairRows(neg, pos, bag.mass[neg], bag.mass[pos])
    votes = bag.votes @ model.mix.astype(np.float32)
    source, share = pairs_out_of_bag(votes, bag.out, pairs, model.front)
    if share * len(votes) >= _MEMBERS or not share:
        return source, []
    # in tens, so that all candidates of a search have the same text
    enough = 10 * int(np.ceil(_MEMBERS / share / 10))
    reason = doubts.FEW_MEMBERS.format(
        name=model.name, n=len(votes), least=_MEMBERS, enough=enough
    )
    return source, [reason]


def _checked(evaluation, source, may_fit):
    """The source in closed form, or one of fits where another source contradicts it."""
    sample, question = evaluation.sample, evaluation.question
    if source.departure > STOPPED:  # the optimum may rank the rows otherwise
        origin = "refits" if may_fit else "rows left out of the optimum"
        reason = doubts.STOPPED_EARLY.format(name=sample.model.name, source=origin)
        return _by_fits(sample, question)[0] if may_fit else source, [reason]
    if not may_fit:
        return source, []
    if share := sample.model.scored.adapted:
        folds, reasons = _by_fits(sample, question, folds=True)
        if folds is None:
            return source, reasons
        source = replace(folds, auc=source.auc + share * (folds.auc - source.auc))
    gap, explained = _gap(evaluation, source)
    refits = None if explained else _by_fits(sample, question)[0]
    # of refits: less than half of the gap between the model and the rows left out
    if refits is not None and evaluation.projection.gap(refits)[0] / gap < 0.5:
        return refits, []
    return _beside_model(evaluation, source, [])


def _beside_model(evaluation, source, reasons):
    """A source in a report, alone if the model of the data set contradicts it."""
    # there is no model of the data set behind a curved step that used y
    modelled = source is not None and evaluation.model.broken_by is None
    report = modelled and evaluation.question.is_report
    if not report or _gap(evaluation, source)[1]:
        return source, reasons
    projection = evaluation.projection
    model = float(ndtr(projection.probit[0]))
    reason = doubts.TWO_ANSWERS.format(model=model, left_out=source.auc)
    variance = projection.model.size.spread * source.variance
    return replace(source, alone=True, variance=variance), [reason]


def _gap(evaluation, source):
    """Gap between rows left out and the model, and whether their errors explain it."""
    gap, deviation = evaluation.projection.gap(source)
    return gap, abs(gap) <= max(_GAP, _UNEXPLAINED * deviation)


def _by_fits(sample, question, folds=False):
    """AUC of rows left out of clones, in folds or as the table says, and doubts.

    Clones of the whole estimator with its steps; of the linear model alone on the rows
    in front of it if a part is never fitted again, or if its fits are solved.
    """
    model, prior = sample.model, question.prior
    must = folds or prior.refits or model.pair is not None or not can_stay(model)
    frozen = has_frozen(model.estimator)
    # means of all rows show those left out to fits without a free intercept, or far
    # from their optimum
    whole = must or not (frozen or is_solved(model.linear))
    if must and frozen:
        return None, [doubts.FROZEN_IN_REFITS]
    try:
        source = _by_clones(model, question, whole, folds)
        if not np.isfinite(source.auc):
            raise ValueError("no pair of rows was left out")
    except Warning:  # a warning of the fit that the user made an error
        raise
    except Exception:  # an estimator may raise anything for fewer or repeated rows
        return None, [doubts.REFITS_FAILED.format(name=model.name)]
    return sample.of_all_rows(source), []


def _by_clones(model, question, whole, folds):
    """AUC of rows left out of clones: pairs within folds, or .632+ of samples."""
    scored, positive, front = model.scored, model.positive, model.front
    curved = model.linear is None or model.pair is not None
    folds = folds or curved or scored.adapted >= ADAPTED or scored.group is not None
    counts = _FOLDS if folds else _SAMPLES
    K = next(count for limit, count in counts if front.n < limit)
    K = question.prior.refits or (K if question.is_report else SCORER_FITS)
    if not folds:
        drawn = balanced_samples(Rows.of(model.rows.X, positive), K)
    elif scored.group is None:
        drawn = repeated_folds(scored.content, scored.codes, K)
    else:
        drawn = _folds_of_groups(scored, K)
    scores = _scores_of_clones(model, drawn, question.prior.verbose, whole)
    mass = (drawn == 0)[:, model.which] * front.weight
    if scored.group is not None:
        sums = sum(
            sums_of_scores(score, positive, weight, front.group)
            for score, weight in zip(scores, mass, strict=True)
        )
        return Source(*auc_of_groups(sums, front), "group folds")
    auc = weighted_auc(scores, positive, mass)
    if folds:
        return Source(auc, _variance(auc, model), "folds")
    auc = plus_632(front.auc(model.score), auc)
    # a solver may be far from an optimum, at another model in every fit
    of_solver = np.var(aucs(scores, positive, front.weight)[0], ddof=1)
    return Source(auc, float(_variance(auc, model) + of_solver), "refits")


def _variance(auc, model):
    """Hanley and McNeil's variance, larger for a model whose features do not count."""
    factor = 1.0 if model.broken_by is None else OF_CURVED
    return factor * model.front.auc_variance(auc)


def _folds_of_groups(scored, K):
    """As :func:`repeated_folds`, with all rows of a group in one fold."""

    def compute():
        order, _ = canonical_order(scored.content)
        # neither the order of the groups nor their names matter
        _, first, group = np.unique(
            scored.group[order], return_index=True, return_inverse=True
        )
        group = np.argsort(np.argsort(first))[group]
        trains = np.ones((K, len(order)), dtype=bool)
        for seed, folds in enumerate(np.array_split(np.arange(K), max(K // FOLDS, 1))):
            size = min(len(folds), len(first))
            splitter = StratifiedGroupKFold(size, shuffle=True, random_state=seed)
            splits = splitter.split(order, scored.codes[order], group)
            for fold, (_, test) in zip(folds, splits, strict=False):
                trains[fold, order[test]] = False
        return trains

    key = "folds of groups", K, scored.codes.tobytes(), scored.group.tobytes()
    return scored.content.cached(key, compute)


def _scores_of_clones(model, counts, verbose, whole):
    """Scores (K, n) of the rows of a model by clones fitted to copies of all rows."""
    scored = model.scored
    # pairs of classes share clones, and a report those of five folds that ranked it
    keys = [count.tobytes() for count in counts]
    missing = [k for k, key in enumerate(keys) if key not in scored.clones]
    if missing:
        part = (model.estimator, scored.X) if whole else (model.linear, scored.front)
        data = *part, scored.y, scored.weight, scored.group
        begin = perf_counter()
        first = _decisions_of_clone(*data, counts[missing[0]])
        seconds = perf_counter() - begin
        if seconds > _LONG:
            _log.warning(
                "%d fits of %s leave rows out: about %.0f s in all. "
                "AdaptivePrior(refits=K) makes K fits, refits=0 none",
                *(len(missing), type(part[0]).__name__, len(missing) * seconds),
            )
        calls = (partial(_decisions_of_clone, *data, counts[k]) for k in missing[1:])
        found = [first, *in_parallel(calls, None, verbose)]
        for k, decided in zip(missing, found, strict=True):
            scored.clones[keys[k]] = decided
    every = np.array([scored.clones[key] for key in keys])
    return every[:, model.which] @ model.mix


def _decisions_of_clone(estimator, X, y, weight, group, count):
    """Decisions (n, k) of all rows by a clone fitted to ``count`` copies of each."""
    # rows are repeated, because not every estimator takes weights
    drawn = np.repeat(np.arange(len(y)), count)
    if is_solved(estimator):  # scikit-learn needs P³ for the same
        rows = Rows.of(take_rows(X, drawn), y[drawn] == estimator.classes_[1])
        found = solved(estimator, rows).score(np.asarray(X))[:, None]
    else:
        found = decisions(fitted_to_rows(estimator, X, y, weight, drawn, group), X)
    if not np.isfinite(found).all():
        raise ValueError(f"scores of {type(estimator).__name__} must be finite")
    return found
