"""The second source of an AUC: what rows that were left out say beside the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SecondSource:
    """AUC of a fitted model on rows that were left out.

    Parameters
    ----------
    auc : float
    variance : float
        Of the AUC over data sets: DeLong's, or Hanley & McNeil's at the estimate.
    method : {".632+", "leave-one-out", "leave-pair-out", "refits"}
    """

    auc: float
    variance: float
    method: str
