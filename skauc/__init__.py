"""skauc: choose, compare and report classifiers by their AUC.

Choose a linear model from few rows and report its AUC with a 95 % interval::

    from skauc import ResubstitutionSplit, auc_posterior, cbauc_scorer
    search = GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    posterior = auc_posterior(search.fit(X, y), X, y)
    posterior.mean(), posterior.interval(0.95), posterior.warnings

Contents by task. ``help(skauc.<name>)`` explains a name with an example.

Choose a model, one fit for each candidate
    cbauc_scorer, make_cbauc_scorer   score: the AUC to expect on new rows
    lpo_auc_scorer, cv_auc_scorer     score: leave-pair-out, cross-validation
    ebauc_scorer, bee_scorer          score: expected AUC, Bayesian error rate
    ResubstitutionSplit               splitter with one split, all rows in both parts
    one_sd_rule                       refit= the simplest of the good candidates
    search_posterior, SearchDisplay   how sure the choice is, and what it is worth
    best_score_bias                   how much best_score_ exceeds the true AUC
Report the AUC of a model
    auc_posterior                     a fitted linear model and its training rows
    bayesian_val_score                the same, fit included
    bootstrap_auc, cross_val_auc      any classifier, by refits
    diagnose, UntrustedAUCWarning     why a number is doubtful
    AdaptivePrior                     options: refits, rows left out
    NormalInverseWishart              the published prior
Report the AUC of scores
    auc_estimate                      AUC, intervals, partial areas; RowBlocks, Dask
    one_vs_rest_auc, hand_till_auc    more than two classes
    cbauc_score, ebauc_score          Bayesian AUC of held-out scores
    cortes_mohri_interval             only the number of errors is known
Compare
    compare_auc                       two or more scores of the same rows, or a constant
    auc_difference_posterior          two linear models and their training rows
    compare_cross_val_auc             whole Pipelines, by cross-validation
Choose a threshold, draw curves, plan a study
    operating_points                  sensitivity, specificity and more, with intervals
    empirical_roc                     the curve with confidence bands
    binormal_roc, QuadraticROC        smooth curves; BinormalROCDisplay draws them
    auc_sample_size, auc_power        numbers of rows, power
    calibration_estimate              calibration slope and intercept; hosmer_lemeshow
Train
    GaussianAUCClassifier             linear classifier of the largest Gaussian AUC
    IRLSLogisticRegression            logistic regression with tables and intervals
    LinearDiscriminantROC             LDA with its ROC curve in closed form
    QuadraticDiscriminantROC          QDA likewise
More rows than memory
    RowBlocks                         takes the place of X and y; so do Dask collections
    class_moments, Moments            counts, means and scatters, which add up
    clear_cache                       release what is kept of recent data sets

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
from .intervals._contrast import AUCContrast
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
from .intervals._projection import (
    binormal_auc_score,
    binormal_roc,
    cbauc_score,
    ebauc_score,
)
from .model_selection._auc_posterior import (
    auc_difference_posterior,
    auc_posterior,
    bayesian_val_score,
)
from .model_selection._cross_val import compare_cross_val_auc, cross_val_auc
from .model_selection._diagnose import Diagnosis, PairwiseDiagnosis, diagnose
from .model_selection._doubts import UntrustedAUCWarning
from .model_selection._refits import BootstrapAUC, bootstrap_auc
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
    best_score_bias,
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

__version__ = "0.1.0"

__all__ = [
    "AUCComparison",
    "AUCComparisons",
    "AUCContrast",
    "AUCDifferencePosterior",
    "AUCEstimate",
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
    "SearchDisplay",
    "SearchPosterior",
    "UntrustedAUCWarning",
    "auc_difference_posterior",
    "auc_estimate",
    "auc_posterior",
    "auc_power",
    "auc_sample_size",
    "bayesian_val_score",
    "bee_scorer",
    "best_score_bias",
    "binormal_auc_score",
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
