"""What is asked about a fitted model on given rows."""

from dataclasses import dataclass
from typing import Any

from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import check_covariance, check_prior
from ..statistics._checks import check_option

ROWS = ("auto", "training", "held-out")
LEFT_OUT = ("none", "closed form", "fits")


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
    left_out: str = "none"
    groups: Any = None

    def __post_init__(self):
        object.__setattr__(self, "prior", check_prior(self.prior))
        check_covariance(self.prior, self.covariance)
        check_option("rows", self.rows, ROWS)
        check_option("left_out", self.left_out, LEFT_OUT)
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
