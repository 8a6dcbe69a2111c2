"""skauc: model selection, estimators and honest intervals for the AUC.

Choose a linear model without folds::

    from skauc import ResubstitutionSplit, cbauc_scorer
    GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
"""

from ._binormal import BinormalROC
from ._displays import AUCPosteriorDisplay, BinormalROCDisplay
from ._gaussian_auc import GaussianAUCClassifier
from ._lda import LinearDiscriminantROC
from ._logistic import IRLSLogisticRegression
from ._model_selection import ResubstitutionSplit, bayesian_val_score
from ._moments import Moments, class_moments
from ._posterior import AUCPosterior, NormalInverseWishart
from ._scorers import (
    bee_scorer,
    cbauc_scorer,
    cv_auc_scorer,
    ebauc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_cv_auc_scorer,
    make_ebauc_scorer,
)
from ._scores import (
    auc_posterior,
    binormal_auc_score,
    binormal_roc,
    cbauc_score,
    ebauc_score,
)

__version__ = "0.1.0"

__all__ = [
    "AUCPosterior",
    "AUCPosteriorDisplay",
    "BinormalROC",
    "BinormalROCDisplay",
    "GaussianAUCClassifier",
    "IRLSLogisticRegression",
    "LinearDiscriminantROC",
    "Moments",
    "NormalInverseWishart",
    "ResubstitutionSplit",
    "auc_posterior",
    "bayesian_val_score",
    "bee_scorer",
    "binormal_auc_score",
    "binormal_roc",
    "cbauc_score",
    "cbauc_scorer",
    "class_moments",
    "cv_auc_scorer",
    "ebauc_score",
    "ebauc_scorer",
    "make_bee_scorer",
    "make_cbauc_scorer",
    "make_cv_auc_scorer",
    "make_ebauc_scorer",
]
