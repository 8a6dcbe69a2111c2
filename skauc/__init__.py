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
    one_sd_rule                       rule for ``refit=``: simplest good candidate
    search_posterior, SearchDisplay   certainty of the choice, AUC of the chosen model
Report the AUC of a model
    auc_posterior                     fitted linear model and its training rows
    bayesian_val_score                the same, including the fit
    bootstrap_auc, cross_val_auc      any classifier, by refitting it
    auc_permutation_test              is the AUC above chance?
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
    auc_difference_posterior          two linear models on their training rows
    compare_cross_val_auc             whole Pipelines, by cross-validation
Choose a threshold, draw curves, plan a study
    operating_points                  sensitivity, specificity and more, with intervals
    empirical_roc                     ROC curve with confidence bands
    binormal_roc, QuadraticROC        smooth curves; BinormalROCDisplay draws them
    auc_sample_size, auc_power        numbers of rows for a power or an interval
    calibration_estimate              calibration slope and intercept
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

All public names are those of this module; the folders are private. Each folder imports
only from the lines below its own::

    displays | distributed             pictures | sums over Dask's chunks
    model_selection                    f(estimator, X, y): scorers, reports
    intervals | estimators             f(y_true, y_score) | classifiers with curves
    adaptive                           the adaptive prior (does not use roc)
    posterior | leave_pair_out | roc   closed forms | rows left out | curves
    statistics                         rows, moments, ranks, blocks

``_validation`` checks arguments and turns labels into a mask of the positive rows.
"""

from .adaptive._prior import AdaptivePrior
from .displays._auc_posterior import AUCPosteriorDisplay
from .displays._roc import BinormalROCDisplay
from .displays._search import SearchDisplay
from .distributed._dask_blocks import DaskBlocks as _DaskBlocks  # noqa: F401 (registers)
from .estimators._calibration import (
    CalibrationEstimate,
    HosmerLemeshow,
    calibration_estimate,
    hosmer_lemeshow,
)
from .estimators._gaussian_auc import GaussianAUCClassifier
from .estimators._lda import LinearDiscriminantROC
from .estimators._logistic import IRLSLogisticRegression
from .estimators._qda import QuadraticDiscriminantROC
from .intervals._auc_estimate import AUCEstimate, auc_estimate
from .intervals._band import ROCBand
from .intervals._compare import compare_auc
from .intervals._comparison import AUCComparison, AUCComparisons
from .intervals._cortes_mohri import cortes_mohri_interval, cortes_mohri_moments
from .intervals._cross_val_comparison import (
    CrossValAUCComparison,
    CrossValAUCComparisons,
)
from .intervals._empirical_roc import EmpiricalROC, empirical_roc
from .intervals._multiclass import (
    AveragedAUC,
    OneVsRestAUC,
    hand_till_auc,
    one_vs_rest_auc,
)
from .intervals._operating_intervals import OperatingComparison
from .intervals._operating_points import OperatingPoints, operating_points
from .intervals._partial_auc import PartialAUC
from .intervals._power import auc_power, auc_sample_size
from .intervals._projection import binormal_roc, cbauc_score, ebauc_score
from .model_selection._auc_posterior import (
    auc_difference_posterior,
    auc_posterior,
    bayesian_val_score,
)
from .model_selection._bootstrap_auc import BootstrapAUC, bootstrap_auc
from .model_selection._cross_val import compare_cross_val_auc, cross_val_auc
from .model_selection._diagnose import Diagnosis, PairwiseDiagnosis, diagnose
from .model_selection._permutation_test import (
    AUCPermutationTest,
    auc_permutation_test,
)
from .model_selection._rows_left_out_scorers import (
    cv_auc_scorer,
    lpo_auc_scorer,
    make_cv_auc_scorer,
    make_lpo_auc_scorer,
)
from .model_selection._scorers import (
    bee_scorer,
    cbauc_scorer,
    ebauc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from .model_selection._search import SearchPosterior, search_posterior
from .model_selection._search_rules import (
    ResubstitutionSplit,
    one_sd_rule,
)
from .posterior._auc_posterior import AUCPosterior, AUCPosteriors
from .posterior._conjugate import NormalInverseWishart
from .posterior._joint import AUCDifferencePosterior
from .posterior._pairwise import PairwiseAUCPosterior
from .roc._binormal import BinormalROC
from .roc._quadratic import QuadraticROC
from .roc._quadratic_form import QuadraticForm
from .statistics._moments import Moments, class_moments
from .statistics._row_blocks import RowBlocks
from .statistics._rows import clear_cache
from .statistics._warn_caller import UntrustedAUCWarning
from .statistics._weights import SampleWeightWarning

__version__ = "0.1.0"

__all__ = [
    "AUCComparison",
    "AUCComparisons",
    "AUCDifferencePosterior",
    "AUCEstimate",
    "AUCPermutationTest",
    "AUCPosterior",
    "AUCPosteriorDisplay",
    "AUCPosteriors",
    "AdaptivePrior",
    "AveragedAUC",
    "BinormalROC",
    "BinormalROCDisplay",
    "BootstrapAUC",
    "CalibrationEstimate",
    "CrossValAUCComparison",
    "CrossValAUCComparisons",
    "Diagnosis",
    "EmpiricalROC",
    "GaussianAUCClassifier",
    "HosmerLemeshow",
    "IRLSLogisticRegression",
    "LinearDiscriminantROC",
    "Moments",
    "NormalInverseWishart",
    "OneVsRestAUC",
    "OperatingComparison",
    "OperatingPoints",
    "PairwiseAUCPosterior",
    "PairwiseDiagnosis",
    "PartialAUC",
    "QuadraticDiscriminantROC",
    "QuadraticForm",
    "QuadraticROC",
    "ROCBand",
    "ResubstitutionSplit",
    "RowBlocks",
    "SampleWeightWarning",
    "SearchDisplay",
    "SearchPosterior",
    "UntrustedAUCWarning",
    "auc_difference_posterior",
    "auc_estimate",
    "auc_permutation_test",
    "auc_posterior",
    "auc_power",
    "auc_sample_size",
    "bayesian_val_score",
    "bee_scorer",
    "binormal_roc",
    "bootstrap_auc",
    "calibration_estimate",
    "cbauc_score",
    "cbauc_scorer",
    "class_moments",
    "clear_cache",
    "compare_auc",
    "compare_cross_val_auc",
    "cortes_mohri_interval",
    "cortes_mohri_moments",
    "cross_val_auc",
    "cv_auc_scorer",
    "diagnose",
    "ebauc_score",
    "ebauc_scorer",
    "empirical_roc",
    "hand_till_auc",
    "hosmer_lemeshow",
    "lpo_auc_scorer",
    "make_bee_scorer",
    "make_cbauc_scorer",
    "make_cv_auc_scorer",
    "make_ebauc_scorer",
    "make_lpo_auc_scorer",
    "one_sd_rule",
    "one_vs_rest_auc",
    "operating_points",
    "search_posterior",
]
