"""Inference of a logistic fit: errors, profiles and tests of its coefficients.

A contrast ``Lθ`` has the variance ``L V Lᵀ``, V the inverse information or a sandwich.

Along a contrast ``aᵀθ`` the *profile* is the largest ℓ (or Firth's ℓ*) with ``aᵀθ``
fixed. With the standard error se of aᵀθ̂ its signed root

    r(t) = sign(t) √{2(ℓ(θ̂) − max ℓ(θ : aᵀθ = aᵀθ̂ + t se))}

is t for a quadratic ℓ; limits are where |r| is a normal quantile (Venzon & Moolgavkar
1988, https://doi.org/10.2307/2347496). The *sandwich* ``H⁻¹(Σ s sᵀ)H⁻¹`` takes the
covariance of the gradient from the scores s of rows (White 1982,
https://doi.org/10.2307/1912526) or clusters (Liang & Zeger 1986,
https://doi.org/10.1093/biomet/73.1.13).
"""

from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr, ndtri
from sklearn.exceptions import ConvergenceWarning

from ..statistics._checks import check_numbers, check_option, short
from ..statistics._wald import WaldTable
from ..statistics._warn_caller import warn_caller
from ..statistics._weights import NOT_COUNTS, SampleWeightWarning
from ._coefficient_tables import CoefficientTable, LikelihoodRatio, WaldTest, place_of
from ._likelihood import cluster_scores, squared_scores
from ._logistic_problem import LogisticProblem, LogisticSolution
from ._newton import Objective, Point, climb, solve, unit_diagonal

# The square of tol is the error of ℓ: limits are good to ten digits. Maximum likelihood
# takes up to 7 steps, Firth's on 30 separated rows 44
_CLIMB = {"tol": 1e-7, "max_iter": 200}
_LIMIT_TOL = 1e-10  # error of a limit, in standard errors
_STARTS = 6  # maxima found elsewhere from which a limit of Firth's profile is checked
_SAME = 1e-5  # difference of ℓ* of two maxima that are one
_SAME_ROWS = 1e-6  # relative difference of two log-likelihoods of the same float32 rows
_height = attrgetter("objective")  # of a point
_NO_EFFECT = 1e-7  # part of a row of length 1 along a dependence that is 0


@dataclass(eq=False)
class ProfileLikelihood:
    """The likelihood of the rows of a fit, its maximum, and its maxima elsewhere."""

    objective: Objective
    point: Point
    converged: bool = True  # whether all maxima along contrasts were reached
    n_starts: int = 1  # number of maxima from which another is sought
    maxima: tuple = ()  # θ of the maxima at limits so far, and of the last one
    spread: float = 0.0  # difference of the last maxima from two starts
    doubtful: bool = False  # whether those of a limit or of a test differ

    def sandwich(self, groups=None):
        """Covariance of the estimates from the scores of rows, or of clusters."""
        scores = squared_scores if groups is None else cluster_scores
        sums = self.objective.sums(scores, self.point.theta)
        meat = sums if groups is None else sums.T @ sums
        return self.objective.covariance(self.point, meat)

    def fall(self, contrast, gap, *, checked=False) -> float:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = Lθ̂ + gap)}``, L of shape (q, M(P + 1)).

        ``checked``: for a limit or a test, where different maxima are a doubt.
        """
        # columns of length 1 for scaled parameters
        held = (contrast @ self.objective.to_original).T
        size = np.abs(held).max(axis=0)
        found = self._restricted(held / size, gap / size)
        self.maxima = (*self.maxima[:-1], found.theta)
        fall = float(self.point.objective - found.objective)
        self.spread = max(self.spread, -fall)  # or the estimate is a smaller maximum
        self.doubtful |= checked and self.spread > _SAME
        return max(2 * fall, 0.0)

    def limits(self, contrast, error, quantile):
        """Points t in standard errors at which r(t) is −quantile and quantile."""

        def excess(t, sign):
            return np.sqrt(self.fall(contrast, np.array([sign * t * error]))) - quantile

        ends = []
        for sign in (-1, 1):
            # for a quadratic ℓ the limit is t = quantile: try it first
            far = quantile
            while excess(far, sign) < 0:  # ℓ falls at least linearly in the end
                far *= 2
            t = brentq(excess, 0, far, args=(sign,), xtol=_LIMIT_TOL * quantile)
            ends.append(sign * t)
            self.maxima += self.maxima[-1:]
        return tuple(ends)

    def profiles(self, coef, errors, quantile):
        """Signed roots at 0 of all coefficients, and limits where they are a quantile.

        NaN where a coefficient is not estimable, with an error of NaN.
        """
        known, contrasts = np.flatnonzero(~np.isnan(errors)), np.eye(len(coef))
        roots, limits = np.full(len(coef), np.nan), np.full((len(coef), 2), np.nan)
        # χ²₁ = z²: the test keeps values with |r| ≤ Φ⁻¹ of the tail
        for j in known:
            limits[j] = self.limits(contrasts[[j]], errors[j], quantile)
        self.n_starts = _STARTS
        for j in known:
            L = contrasts[[j]]
            roots[j] = self.fall(L, -coef[[j]], checked=True)
            if not self.objective.concave:
                limits[j] = self._look_again(L, errors[j], limits[j], quantile)
        self.warn()
        # sign(β̂) √{2(ℓ(θ̂) − max ℓ(θ : θ_j = 0))}
        return np.copysign(np.sqrt(roots), coef), *(coef + limits.T * errors)

    def _look_again(self, L, error, limits, quantile):
        """Limits, corrected by maxima that were found for later coefficients."""
        for _ in range(2):
            gaps = np.reshape(limits, (2, 1)) * error
            ends = [self.fall(L, gap, checked=True) for gap in gaps]
            if min(ends) >= quantile**2 - _SAME:
                return limits
            limits = self.limits(L, error, quantile)
        self.doubtful = True
        return limits

    def _restricted(self, held, gap):
        """The maximum where ``heldᵀ(d − d̂) = gap``, by Newton's steps.

        A likelihood that is not concave is climbed from more starts, too: the best of
        the maxima that have been found elsewhere, moved into this plane.
        """
        # d̂ + H⁻¹a(aᵀH⁻¹a)⁻¹gap, where a quadratic ℓ has its maximum, and the shortest
        # d with aᵀd = aᵀd̂ + gap: some logits of the first may be far out
        d, along = self.point.theta, solve(self.point.information, held)
        tangent = d + along @ np.linalg.solve(held.T @ along, gap)
        shortest = self._nearest(0 * d, held, gap)
        start = max(map(self.objective.at, (tangent, shortest)), key=_height)
        best, starts = start, [start]
        if not self.objective.concave:
            moved = [self._moved(far, held, gap) for far in self.maxima]
            starts += sorted(moved, key=_height)[-self.n_starts :]
        if held.shape[1] < len(held):  # something is left free
            basis = linalg.null_space(held.T)
            ends = [climb(self.objective, start, basis, **_CLIMB) for start in starts]
            end = max(ends, key=lambda end: _height(end.point))
            self.converged &= end.small
            best = end.point
            others = (_height(end.point) for end in ends[1:])
            self.spread = _height(ends[0].point) - max(others, default=np.inf)
        return best

    def _moved(self, far, held, gap):
        """A maximum far from θ̂, moved into a plane: towards θ̂, or by the shortest way.

        The way towards θ̂ keeps the proportions of the coefficients.
        """
        away = far - self.point.theta
        reach = held.T @ away
        if len(gap) == 1 and 0 < gap * reach < reach**2:
            return self.objective.at(self.point.theta + gap / reach * away)
        return self.objective.at(self._nearest(far, held, gap))

    def _nearest(self, d, held, gap):
        """The nearest point to d where ``heldᵀ(d − d̂) = gap``."""
        missing = gap - held.T @ (d - self.point.theta)
        return d + held @ np.linalg.solve(held.T @ held, missing)

    def warn(self):
        """Warn once of doubtful maxima, from outside of scipy's frames."""
        if self.doubtful:
            warn_caller(
                "The penalised likelihood has several maxima: two starts led to "
                "different ones. The larger was taken, but limits may be too narrow "
                "and p-values too small; compare them with method='wald', or drop or "
                "group features until no coefficient has so few rows",
                ConvergenceWarning,
            )
        if not self.converged:
            warn_caller(
                "The profile likelihood did not converge: its limits and p-values are "
                "not exact; standardise the features or use method='wald'",
                ConvergenceWarning,
            )


_METHODS = ("wald", "profile")
_COVARIANCES = ("model", "HC0", "HC1", "cluster")


@dataclass(frozen=True, eq=False)
class LogisticInference:
    """What a fit says of its coefficients: errors, tables, tests.

    ``reopen()`` in its methods returns the checked rows of the fit; it is called only
    where they are needed.

    Parameters
    ----------
    problem : LogisticProblem
    solution : LogisticSolution
    feature_names : list of str
    weights_are_counts : bool
    """

    problem: LogisticProblem
    solution: LogisticSolution
    feature_names: list
    weights_are_counts: bool

    @property
    def coef(self):
        """Coefficients of each class but the reference, each intercept first."""
        coef, has_intercept = self.solution.contrasts, self.problem.fit_intercept
        return (np.roll(coef, 1, axis=1) if has_intercept else coef[:, :-1]).ravel()

    @property
    def n_parameters(self) -> int:
        """Rank parameters for each of K − 1 logits."""
        return self.solution.rank * (len(self.problem.classes) - 1)

    def named(self, feature_names):
        """The same with other names of the features."""
        if feature_names is None:
            return self
        if hasattr(feature_names, "get_feature_names_out"):
            feature_names = feature_names.get_feature_names_out()
        names, P = [str(name) for name in feature_names], len(self.feature_names)
        if len(names) != P:
            raise ValueError(
                f"feature_names must hold one name for each of the {P} features, got "
                f"{len(names)}"
            )
        return replace(self, feature_names=names)

    def errors(self, covariance):
        """Standard errors of the coefficients; NaN for those not estimable."""
        errors = np.sqrt(np.maximum(np.diag(covariance), 0))
        return np.where(self._is_estimable(np.eye(len(errors))), errors, np.nan)

    def table(self, level, method, kind, groups, reopen) -> CoefficientTable:
        """The table of Wald's tests, or of likelihood-ratio tests."""
        default = "profile" if self.problem.is_firth else "wald"
        method = check_option("method", method or default, _METHODS)
        profile = method == "profile"
        what = "method='profile'" if profile else "summary"
        self.require(what, weighted=not profile, counts=False)
        kind, V = self.covariance(kind, groups, reopen, profile=profile)
        errors = self.errors(V)
        coef = np.where(np.isnan(errors), np.nan, self.coef)
        wald = WaldTable(coef, errors)
        z, pvalue, (low, high) = wald.statistic, wald.pvalue, wald.limits(level)
        if profile:
            likelihood = self._likelihood(reopen())
            z, low, high = likelihood.profiles(coef, errors, -ndtri((1 - level) / 2))
            pvalue = 2 * ndtr(-np.abs(z))
        labels = self.problem.classes.tolist()
        reference = labels.pop(self.problem.reference)
        names = ["(Intercept)"] * self.problem.fit_intercept + self.feature_names
        odds = f"of {labels[0]!r} against {reference!r}"
        if len(labels) > 1:
            names = [f"{label}: {name}" for label in labels for name in names]
            odds = f"against {reference!r}"
        return CoefficientTable(
            names=tuple(names),
            estimate=coef,
            standard_error=errors,
            statistic=z,
            pvalue=pvalue,
            low=low,
            high=high,
            confidence_level=level,
            covariance=kind,
            method=method,
            odds=odds,
        )

    # Covariances ----------------------------------------------------------------------

    def covariance(self, kind, groups, reopen, *, rank=1, profile=False):
        """Name (a default for None) and matrix of the covariance."""
        default = "model" if self.problem.class_weight is None else "HC0"
        usual = default if groups is None else "cluster"
        kind = check_option("covariance", kind or usual, _COVARIANCES)
        if (groups is None) == (kind == "cluster"):
            rule = "be given with" if groups is None else "be None without"
            raise ValueError(
                f"groups must {rule} covariance='cluster', got {short(groups)}"
                f" with covariance={kind!r}"
            )
        if kind != "model" and (self.problem.is_firth or profile):
            why = "penalty='firth'" if self.problem.is_firth else "method='profile'"
            raise ValueError(f"covariance must be 'model' with {why}, got {kind!r}")
        if kind == "model" and default != "model":
            raise ValueError(
                "covariance must be 'HC0', 'HC1' or 'cluster' with class_weight, whose "
                "weights are no counts of rows, got 'model'"
            )
        if kind == "model":
            self._warn_unless_counts()
        if kind == default:
            return kind, self.solution.covariance
        return kind, self._sandwich(kind, reopen(), rank)

    def _sandwich(self, kind, rows, rank):
        """The robust covariance; with G clusters its rank is at most G − 1."""
        likelihood, n = self._likelihood(rows), float(rows.n_rows)
        rest = n - self.n_parameters
        if kind != "HC0" and rest <= 0:
            raise ValueError(
                f"covariance must be 'model' or 'HC0' where n_parameters_ >= rows, got "
                f"{self.n_parameters} parameters and {n:g} rows"
            )
        if kind != "cluster":  # n/(n − k), k parameters
            return likelihood.sandwich() * (n / rest if kind == "HC1" else 1.0)
        G = len(np.unique(rows.groups))
        if G <= rank:
            why = "" if rank == 1 else f" for a contrast of {rank} rows"
            raise ValueError(
                f"groups must hold at least {rank + 1} clusters{why}, got {G}"
            )
        # G/(G − 1) · (n − 1)/(n − k)
        return likelihood.sandwich(rows.groups) * (G / (G - 1) * (n - 1) / rest)

    def _likelihood(self, rows):
        """The likelihood of the rows of the fit, which are given again."""
        objective, _ = self.problem.opened(rows)
        coordinates, B = objective.coordinates, self.solution.contrasts.T
        theta = coordinates.enter(B[: len(coordinates.scale)])
        likelihood = ProfileLikelihood(objective, objective.at(theta))
        again, once = likelihood.point.log_likelihood, self.solution.log_likelihood
        # other rows have another likelihood at these coefficients
        if not abs(again - once) <= _SAME_ROWS * abs(once):
            raise ValueError(
                "X, y, sample_weight and offset must be those of the fit, whose "
                f"log-likelihood is {once:.6g}, got {again:.6g}"
            )
        return likelihood

    # Tests ----------------------------------------------------------------------------

    def wald_test(self, contrast, null, kind, groups, reopen) -> WaldTest:
        """``(Lθ − null)ᵀ(L V Lᵀ)⁻¹(Lθ − null)``, χ² with as many degrees as rows."""
        self.require("wald_test", counts=False)
        L, gap = self._hypothesis(contrast, null)
        _, V = self.covariance(kind, groups, reopen, rank=len(L))
        S = L @ V @ L.T
        size = np.sqrt(np.diag(S))
        if not (size > 0).all():
            raise ValueError(
                "contrast must have a variance that is a positive number, got a "
                f"standard error of {size.min():.3g}"
            )
        z = gap / size  # in units of the contrasts' errors
        statistic = max(float(z @ np.linalg.solve(S / size / size[:, None], z)), 0.0)
        pvalue = float(chdtrc(len(L), statistic))
        return WaldTest(statistic, len(L), pvalue, L @ self.coef, size)

    def likelihood_ratio(self, contrast, null, reopen) -> LikelihoodRatio:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = null)}``, χ² with as many degrees as rows."""
        self.require("likelihood_ratio_test", weighted=False)
        L, gap = self._hypothesis(contrast, null)
        likelihood = self._likelihood(reopen())
        fall = likelihood.fall(L, -gap, checked=True)
        likelihood.warn()
        return LikelihoodRatio(fall, len(L), float(chdtrc(len(L), fall)))

    def _hypothesis(self, contrast, null):
        """L of shape (q, M(P + 1)) and ``Lθ − null``, estimable."""
        null = check_numbers("null", null, closed="neither")
        given = np.ravel(contrast)  # also of a slice
        named = any(isinstance(value, str | slice) for value in given)
        L = check_contrast(self._rows_of(contrast) if named else contrast, self.coef)
        if null.shape not in ((), (len(L),)):
            raise ValueError(f"null must be a number, or {len(L)}, got {null}")
        gap = L @ self.coef - null
        known = self._is_estimable(L)
        if known.all():
            return L, gap
        if named:
            parts = self._estimable_part(L)
            return parts @ L, parts @ gap
        raise ValueError(
            "contrast must be estimable where features are linearly dependent, got "
            f"row {np.argmin(known)}, on which coefficients of the same likelihood "
            "differ; compare combinations that they agree on, or drop features"
        )

    def _rows_of(self, features):
        """The contrast that all coefficients of features are 0."""
        names, places = self.feature_names, features
        if not isinstance(features, slice):
            wanted = np.ravel(features).tolist()
            places = [place_of(name, names, "contrast") for name in wanted]
        first = int(self.problem.fit_intercept)  # place of the first feature
        rows = np.arange(len(self.coef)).reshape(-1, first + len(names))[:, first:]
        return np.eye(len(self.coef))[rows[:, places].ravel()]

    def errors_of_logits(self, X):
        """Standard error of the logit of each row; NaN if it is not estimable."""
        # √(x̃ᵀVx̃) = ‖rootᵀx̃‖ with root rootᵀ = V, in units of the errors
        V, unit = unit_diagonal(self.solution.covariance)
        values, vectors = np.linalg.eigh(V)
        root = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
        if self.problem.fit_intercept:
            stack = sparse.hstack if sparse.issparse(X) else np.hstack
            X = stack([np.ones((X.shape[0], 1)), X])
        errors = np.linalg.norm(np.asarray(X @ root), axis=1)
        return np.where(self._is_estimable(X), errors, np.nan)

    def _is_estimable(self, L):
        """Whether each row of L vanishes for the directions that change no logit."""
        return (np.abs(self._without_effect(L)[0]) <= _NO_EFFECT).all(axis=1)

    def _without_effect(self, L):
        """Rows of length 1, of parameters of unit spread, times null; their lengths."""
        rows = np.asarray(L @ self.solution.scaled)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows @ self.solution.null / np.where(length > 0, length, 1.0), length

    def _estimable_part(self, L):
        """Combinations A of the rows of L with ``A L`` estimable, one row each.

        Models with and without a factor whose columns add up to the intercept differ by
        one degree of freedom less than columns.
        """
        image, length = self._without_effect(L)
        parts = linalg.null_space(image.T, rcond=_NO_EFFECT)
        if not parts.shape[1]:
            raise ValueError(
                "contrast must name features that the others do not replace, got "
                "features without which the model has the same likelihood; name fewer "
                "of them"
            )
        return (parts / length).T

    # Refusals -------------------------------------------------------------------------

    def _warn_unless_counts(self):
        """Warn if the weights are not counts, which the inverse information counts."""
        # with class_weight errors are those of the sandwich
        if self.problem.class_weight is None and not self.weights_are_counts:
            warn_caller(NOT_COUNTS, SampleWeightWarning)

    def require(
        self, name, *, firth=True, weighted=True, counts=True, error=ValueError
    ):
        """Raise if no covariance of the estimates is known; warn if it is doubtful."""
        problem, solution = self.problem, self.solution
        if np.isfinite(problem.C):
            rule = (
                "defined for maximum likelihood (C=inf), whose inverse information is "
                f"the covariance of the estimates, got C={problem.C}"
            )
        elif solution.separation is not None:
            rule = (
                "not defined where the estimate does not exist, got "
                f"{solution.separation} separation of the classes"
            )
        elif problem.is_firth and not firth:
            rule = "defined for maximum likelihood, got penalty='firth'"
        elif problem.class_weight is not None and (problem.is_firth or not weighted):
            rule = (
                "not defined with class_weight, whose weights are no counts of rows, "
                f"got class_weight={short(problem.class_weight)}"
            )
        elif solution.covariance is None:
            rule = (
                "defined for no more features than rows of positive weight, got "
                f"{len(self.feature_names)} features"
            )
        else:
            return self._warn_unless_counts() if counts else None
        raise error(f"{name} is {rule}")


def check_contrast(contrast, coef):
    """Check the rows of a contrast: finite, not 0, linearly independent."""
    L = np.atleast_2d(check_numbers("contrast", contrast, closed="neither"))
    if L.ndim != 2 or not L.size or L.shape[1] != len(coef):
        raise ValueError(
            f"contrast must be a matrix or a row, with one column for each of the "
            f"{len(coef)} coefficients of summary(), got shape {L.shape}"
        )
    # divide rows by their largest entry, so that the rank does not depend on it
    largest = np.abs(L).max(axis=1, keepdims=True)
    rank = np.linalg.matrix_rank(L / np.where(largest > 0, largest, 1.0))
    if rank < len(L):
        raise ValueError(
            "contrast must have linearly independent rows, none of zeros, got rank "
            f"{rank} of {len(L)}"
        )
    return L
