"""skauc: choose, compare and report classifiers by their AUC.

Choose a linear model from few rows and report its AUC with a 95 % interval::

    from skauc import ResubstitutionSplit, auc_posterior, cbauc_scorer
    search = GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    posterior = auc_posterior(search.fit(X, y), X, y)
    posterior.mean(), posterior.interval(0.95), posterior.warnings

Contents by task. ``help(skauc.<name>)`` explains a name with an example.

Choose a model in a search
    cbauc_scorer, make_cbauc_scorer   score: expected AUC on new rows, without folds
    lpo_auc_scorer, cv_auc_scorer     score: leave-pair-out or cross-validated AUC
    ebauc_scorer, bee_scorer          score: predictive AUC, Bayesian error rate
    ResubstitutionSplit               splitter for ``cv=``: all rows train and test
    one_sd_rule                       rule for ``refit=`` over folds: simplest candidate
    search_posterior, SearchDisplay   certainty of the choice, AUC of the chosen model
Report the AUC of a model
    auc_posterior                     fitted model and its training rows
    bayesian_val_score                the same, including the fit
    auc_permutation_test              is the AUC above chance?
    bootstrap_auc, cross_val_auc      any classifier, by refitting it
    diagnose, UntrustedAUCWarning     reasons to doubt a reported AUC
    SampleWeightWarning               the meaning of weights, and of other ones
    AdaptivePrior                     the default prior, to change its options
    NormalInverseWishart              the published prior
Report the AUC of scores
    auc_estimate                      AUC with intervals, partial areas
    one_vs_rest_auc, hand_till_auc    more than two classes
    cbauc_score, ebauc_score          Bayesian AUC of held-out scores
    cortes_mohri_interval             interval from the number of errors alone
Compare
    compare_auc                       two or more scores, or one score with a constant
    auc_difference_posterior          two models on their training rows
    compare_cross_val_auc             whole Pipelines, by cross-validation
Choose a threshold, draw curves, plan a study
    operating_points                  sensitivity, specificity and more, with intervals
    empirical_roc                     ROC curve with confidence bands
    binormal_roc                      smooth curve; ROCDisplay draws them all
    auc_sample_size, auc_power        numbers of rows for a power or an interval
    calibration_estimate              calibration slope and intercept
    CalibrationDisplay                calibration curve, groups, Brier score
    DecisionCurveDisplay              net benefit of decisions by probabilities
    hosmer_lemeshow                   goodness-of-fit test of probabilities
Train
    GaussianAUCClassifier             linear classifier with the largest Gaussian AUC
    IRLSLogisticRegression            logistic regression with tables and intervals
    LinearDiscriminantROC             LDA with its ROC curve in closed form
    QuadraticDiscriminantROC          QDA with its ROC curve by contour integrals
Analyse more rows than memory holds
    RowBlocks                         blocks in place of X and y; Dask works as well
    class_moments, Moments            counts, means and scatter matrices, which add up
    clear_cache                       free the memory of cached results

**Weights.** Everywhere ``sample_weight`` means frequency weights: 2 counts a row twice,
a row of weight 0 is gone before anything looks at it. Weights that are not counts of
rows get one answer: the estimate, and one :class:`SampleWeightWarning` (its page has
the rule and the remedies) from whatever counts rows for an error or a posterior.

**Results.** The classes that functions return are in :mod:`skauc.results`. They have
``to_frame()`` and ``summary()``, a text such as "0.91 (0.84 to 0.95)"; estimates,
curves and points also have ``plot()``.

All public names are those of this module and of ``results``; the folders are private.
Each folder imports only from the lines below its own::

    displays | distributed             pictures | sums over Dask's chunks
    model_selection                    f(estimator, X, y): scorers, reports
    intervals | estimators             f(y_true, y_score) | classifiers with curves
    adaptive                           the adaptive prior (does not use roc)
    posterior | leave_pair_out | roc   closed forms | rows left out | curves
    statistics                         rows, moments, ranks, blocks

``_validation`` checks arguments and turns labels into a mask of the positive rows.
"""

from . import results as results
from .adaptive._prior import AdaptivePrior as AdaptivePrior
from .displays._auc_posterior import AUCPosteriorDisplay as AUCPosteriorDisplay
from .displays._calibration import CalibrationDisplay as CalibrationDisplay
from .displays._decision_curve import DecisionCurveDisplay as DecisionCurveDisplay
from .displays._roc import ROCDisplay as ROCDisplay
from .displays._search import SearchDisplay as SearchDisplay
from .distributed._dask_blocks import DaskBlocks as _DaskBlocks  # noqa: F401 (registers)
from .estimators._calibration import calibration_estimate as calibration_estimate
from .estimators._calibration import hosmer_lemeshow as hosmer_lemeshow
from .estimators._gaussian_auc import GaussianAUCClassifier as GaussianAUCClassifier
from .estimators._lda import LinearDiscriminantROC as LinearDiscriminantROC
from .estimators._logistic import IRLSLogisticRegression as IRLSLogisticRegression
from .estimators._qda import QuadraticDiscriminantROC as QuadraticDiscriminantROC
from .intervals._auc_estimate import auc_estimate as auc_estimate
from .intervals._compare import compare_auc as compare_auc
from .intervals._cortes_mohri import cortes_mohri_interval as cortes_mohri_interval
from .intervals._cortes_mohri import cortes_mohri_moments as cortes_mohri_moments
from .intervals._empirical_roc import empirical_roc as empirical_roc
from .intervals._multiclass import hand_till_auc as hand_till_auc
from .intervals._multiclass import one_vs_rest_auc as one_vs_rest_auc
from .intervals._operating_points import operating_points as operating_points
from .intervals._power import auc_power as auc_power
from .intervals._power import auc_sample_size as auc_sample_size
from .intervals._projection import binormal_roc as binormal_roc
from .intervals._projection import cbauc_score as cbauc_score
from .intervals._projection import ebauc_score as ebauc_score
from .model_selection._auc_posterior import (
    auc_difference_posterior as auc_difference_posterior,
)
from .model_selection._auc_posterior import auc_posterior as auc_posterior
from .model_selection._auc_posterior import bayesian_val_score as bayesian_val_score
from .model_selection._bootstrap_auc import bootstrap_auc as bootstrap_auc
from .model_selection._cross_val import compare_cross_val_auc as compare_cross_val_auc
from .model_selection._cross_val import cross_val_auc as cross_val_auc
from .model_selection._cross_val import cv_auc_scorer as cv_auc_scorer
from .model_selection._cross_val import make_cv_auc_scorer as make_cv_auc_scorer
from .model_selection._diagnose import diagnose as diagnose
from .model_selection._permutation_test import (
    auc_permutation_test as auc_permutation_test,
)
from .model_selection._scorers import ResubstitutionSplit as ResubstitutionSplit
from .model_selection._scorers import bee_scorer as bee_scorer
from .model_selection._scorers import cbauc_scorer as cbauc_scorer
from .model_selection._scorers import ebauc_scorer as ebauc_scorer
from .model_selection._scorers import lpo_auc_scorer as lpo_auc_scorer
from .model_selection._scorers import make_bee_scorer as make_bee_scorer
from .model_selection._scorers import make_cbauc_scorer as make_cbauc_scorer
from .model_selection._scorers import make_ebauc_scorer as make_ebauc_scorer
from .model_selection._scorers import make_lpo_auc_scorer as make_lpo_auc_scorer
from .model_selection._search import one_sd_rule as one_sd_rule
from .model_selection._search import search_posterior as search_posterior
from .posterior._conjugate import NormalInverseWishart as NormalInverseWishart
from .statistics._moments import class_moments as class_moments
from .statistics._row_blocks import RowBlocks as RowBlocks
from .statistics._rows import clear_cache as clear_cache
from .statistics._warn_caller import UntrustedAUCWarning as UntrustedAUCWarning
from .statistics._weights import SampleWeightWarning as SampleWeightWarning

__version__ = "0.1.0"

# What people call; the classes of warnings are among the results.
__all__ = sorted(
    name
    for name, value in vars().items()
    if callable(value) and name[0] != "_" and not name.endswith("Warning")
)
