"""skauc: model selection, estimators and honest intervals for the AUC.

Choose a linear model without folds::

    from skauc import ResubstitutionSplit, cbauc_scorer
    GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
"""

from ._adaptive import AdaptivePrior
from ._averaged_auc import AveragedAUC, cross_val_auc, hand_till_auc
from ._binormal import BinormalROC
from ._cache import clear_cache
from ._compare import AUCComparison, AUCComparisons, compare_auc
from ._cortes_mohri import cortes_mohri_interval, cortes_mohri_moments
from ._diagnose import Diagnosis, PairwiseDiagnosis, diagnose
from ._displays import AUCPosteriorDisplay, BinormalROCDisplay
from ._gaussian_auc import GaussianAUCClassifier
from ._intervals import AUCEstimate, auc_estimate
from ._lda import LinearDiscriminantROC
from ._logistic import IRLSLogisticRegression
from ._model_difference import AUCDifferencePosterior, auc_difference_posterior
from ._model_selection import ResubstitutionSplit, bayesian_val_score
from ._moments import Moments, class_moments
from ._pairwise_posterior import PairwiseAUCPosterior
from ._posterior import AUCPosterior, NormalInverseWishart
from ._qda import QuadraticDiscriminantROC
from ._quadratic_form import QuadraticForm
from ._quadratic_roc import QuadraticROC
from ._scorers import (
    bee_scorer,
    cbauc_scorer,
    cv_auc_scorer,
    ebauc_scorer,
    lpo_auc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_cv_auc_scorer,
    make_ebauc_scorer,
    make_lpo_auc_scorer,
)
from ._scores import (
    auc_posterior,
    binormal_auc_score,
    binormal_roc,
    cbauc_score,
    ebauc_score,
)
from ._warnings import UntrustedAUCWarning

__version__ = "0.1.0"

__all__ = [
    "AUCComparison",
    "AUCComparisons",
    "AUCDifferencePosterior",
    "AUCEstimate",
    "AUCPosterior",
    "AUCPosteriorDisplay",
    "AdaptivePrior",
    "AveragedAUC",
    "BinormalROC",
    "BinormalROCDisplay",
    "Diagnosis",
    "GaussianAUCClassifier",
    "IRLSLogisticRegression",
    "LinearDiscriminantROC",
    "Moments",
    "NormalInverseWishart",
    "PairwiseAUCPosterior",
    "PairwiseDiagnosis",
    "QuadraticDiscriminantROC",
    "QuadraticForm",
    "QuadraticROC",
    "ResubstitutionSplit",
    "UntrustedAUCWarning",
    "auc_difference_posterior",
    "auc_estimate",
    "auc_posterior",
    "bayesian_val_score",
    "bee_scorer",
    "binormal_auc_score",
    "binormal_roc",
    "cbauc_score",
    "cbauc_scorer",
    "class_moments",
    "clear_cache",
    "compare_auc",
    "cortes_mohri_interval",
    "cortes_mohri_moments",
    "cross_val_auc",
    "cv_auc_scorer",
    "diagnose",
    "ebauc_score",
    "ebauc_scorer",
    "hand_till_auc",
    "lpo_auc_scorer",
    "make_bee_scorer",
    "make_cbauc_scorer",
    "make_cv_auc_scorer",
    "make_ebauc_scorer",
    "make_lpo_auc_scorer",
]
