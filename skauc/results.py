"""Classes of the values that functions of skauc return, and of their warnings.

Nobody has to make one: they are here to be looked up (``help(skauc.results.<name>)``),
to be named in a type, and to be unpickled. A result with estimates has ``to_frame()``,
whose columns ``estimate``, ``low`` and ``high`` are the same everywhere,
``summary()``, a text such as ``"0.91 (0.84 to 0.95)"``, and ``plot()``. Estimates have
``confidence_interval(0.95)``, posteriors ``interval(0.95)``. Tests and curves have
``to_frame()`` and ``summary()``, too; the tests of a fitted model and the size of a
study are named tuples, which print themselves.
"""

from .estimators._calibration import CalibrationEstimate as CalibrationEstimate
from .estimators._calibration import HosmerLemeshow as HosmerLemeshow
from .estimators._coefficient_tables import CoefficientTable as CoefficientTable
from .estimators._coefficient_tables import LikelihoodRatio as LikelihoodRatio
from .estimators._coefficient_tables import OddsRatioTable as OddsRatioTable
from .estimators._coefficient_tables import WaldTest as WaldTest
from .intervals._auc_estimate import AUCEstimate as AUCEstimate
from .intervals._band import ROCBand as ROCBand
from .intervals._comparison import AUCComparison as AUCComparison
from .intervals._comparison import AUCComparisons as AUCComparisons
from .intervals._cross_val_comparison import (
    CrossValAUCComparison as CrossValAUCComparison,
)
from .intervals._cross_val_comparison import (
    CrossValAUCComparisons as CrossValAUCComparisons,
)
from .intervals._cross_val_comparison import (
    PracticalProbabilities as PracticalProbabilities,
)
from .intervals._empirical_roc import EmpiricalROC as EmpiricalROC
from .intervals._multiclass import AveragedAUC as AveragedAUC
from .intervals._multiclass import OneVsRestAUC as OneVsRestAUC
from .intervals._operating_intervals import OperatingComparison as OperatingComparison
from .intervals._operating_points import OperatingPoints as OperatingPoints
from .intervals._partial_auc import PartialAUC as PartialAUC
from .intervals._power import SampleSize as SampleSize
from .model_selection._bootstrap_auc import BootstrapAUC as BootstrapAUC
from .model_selection._diagnose import Diagnosis as Diagnosis
from .model_selection._permutation_test import AUCPermutationTest as AUCPermutationTest
from .model_selection._search import SearchPosterior as SearchPosterior
from .posterior._auc_posterior import AUCPosterior as AUCPosterior
from .posterior._auc_posterior import AUCPosteriors as AUCPosteriors
from .posterior._joint import AUCDifferencePosterior as AUCDifferencePosterior
from .posterior._pairwise import PairwiseAUCPosterior as PairwiseAUCPosterior
from .roc._base import YoudenPoint as YoudenPoint
from .roc._binormal import BinormalROC as BinormalROC
from .roc._quadratic import QuadraticROC as QuadraticROC
from .roc._quadratic_form import QuadraticForm as QuadraticForm
from .statistics._moments import Moments as Moments
from .statistics._result import Estimate as Estimate
from .statistics._wald import Interval as Interval
from .statistics._warn_caller import UntrustedAUCWarning as UntrustedAUCWarning
from .statistics._weights import SampleWeightWarning as SampleWeightWarning

__all__ = sorted(name for name in globals() if name[0].isupper())
