"""skauc: model selection, estimators and honest intervals for the AUC.

Choose a linear model without folds, then report its AUC with an interval::

    from skauc import ResubstitutionSplit, auc_posterior, cbauc_scorer
    search = GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    auc_posterior(search.fit(X, y), X, y).interval(0.95)

Two samples go in, sufficient statistics stand for them, a posterior or a rank statistic
speaks about the AUC; estimators, scorers, intervals and pictures are ways to ask. All
public names are those of this module; the folders are private. A folder imports from
the lines below its own, never from its neighbours; ``adaptive`` does without ``roc``::

    displays | distributed             pictures | the same sums over Dask's chunks
    model_selection                    f(estimator, X, y): scorers, one fit, diagnosis
    intervals | estimators             f(y_true, y_score) | classifiers with curves
    adaptive                           the prior that is learnt, and leave-pair-out
    posterior | leave_pair_out | roc   closed forms | AUC without refits | curves
    statistics                         what is kept of data: moments, ranks, blocks

``_validation`` turns labels into a mask of the positives and says what is wrong with an
argument; ``intervals`` and all above it know labels, frames and scikit-learn, the
others see clean float arrays. ``clear_cache`` forgets what the learnt prior keeps of
the data sets seen last; ``UntrustedAUCWarning`` is the one warning about numbers.
"""

from .adaptive._cache import clear_cache
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
from .intervals._averaged_auc import AveragedAUC, hand_till_auc
from .intervals._band import ROCBand
from .intervals._compare import compare_auc
from .intervals._comparison import AUCComparison, AUCComparisons
from .intervals._contrast import AUCContrast
from .intervals._cortes_mohri import cortes_mohri_interval
from .intervals._cortes_mohri_moments import cortes_mohri_moments
from .intervals._cross_val_comparison import (
    CrossValAUCComparison,
    CrossValAUCComparisons,
)
from .intervals._empirical_roc import EmpiricalROC, empirical_roc
from .intervals._one_vs_rest import OneVsRestAUC, one_vs_rest_auc
from .intervals._operating_comparison import OperatingComparison
from .intervals._operating_points import OperatingPoints, operating_points
from .intervals._partial_auc import PartialAUC
from .intervals._power import auc_power, auc_sample_size
from .intervals._score_functions import (
    binormal_auc_score,
    binormal_roc,
    cbauc_score,
    ebauc_score,
)
from .model_selection._auc_difference import auc_difference_posterior
from .model_selection._auc_posterior import auc_posterior, bayesian_val_score
from .model_selection._best_score_bias import best_score_bias
from .model_selection._bootstrap_auc import BootstrapAUC, bootstrap_auc
from .model_selection._compare_cross_val_auc import compare_cross_val_auc
from .model_selection._cross_val_auc import cross_val_auc
from .model_selection._cross_validation_scorer import (
    cv_auc_scorer,
    make_cv_auc_scorer,
)
from .model_selection._diagnose import Diagnosis, PairwiseDiagnosis, diagnose
from .model_selection._leave_pair_out_scorer import lpo_auc_scorer, make_lpo_auc_scorer
from .model_selection._one_sd_rule import one_sd_rule
from .model_selection._resubstitution import ResubstitutionSplit
from .model_selection._scorers import (
    bee_scorer,
    cbauc_scorer,
    ebauc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from .model_selection._search_posterior import SearchPosterior, search_posterior
from .model_selection._warnings import UntrustedAUCWarning
from .posterior._auc_posterior import AUCPosterior
from .posterior._aucs import AUCPosteriors
from .posterior._conjugate import NormalInverseWishart
from .posterior._joint import AUCDifferencePosterior
from .posterior._pairwise import PairwiseAUCPosterior
from .roc._binormal import BinormalROC
from .roc._quadratic import QuadraticROC
from .roc._quadratic_form import QuadraticForm
from .statistics._moments import Moments, class_moments
from .statistics._row_blocks import RowBlocks

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
