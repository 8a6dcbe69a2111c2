"""The AUC of a model on rows left out of it, without fits of the estimator.

This folder takes arrays (:class:`~skauc.statistics._rows.Rows`) and knows neither
labels nor estimators. Rows have features x_i, a class t_i = ±1 and a weight; a row of
weight k counts as k equal rows.

**The objective** (``_objective``). A fit minimises

    Σ_i c_i loss(z_i, t_i) + ½ Σ_j l2_j w_j²,   z_i = x_iᵀw + b,

c the weight of the row times that of its class. Write g_i and ω_i for the first and
second derivative of c_i loss in z_i. At the optimum ``Xᵀg + l2 w = 0``; on rows that
did not train the model this gradient has the size of a random walk,
``√Σ_i g_i²(x_ij − x̄_j)²`` in feature j.

**Coordinates** (``_coordinates``). The objective sees the features only through inner
products of rows. With P > n features the rows therefore get at most n coordinates A
with ``A Aᵀ = X Xᵀ``, once for all models of a data set.

**Newton's method** (``_objective``). Damped steps take every fit to its optimum before
rows are left out. A solver stops where the slopes of its rows are small in the units of
its tolerance; with P ≫ n the rows are separated, their own slopes are as small, and
what the solver left remembers the class of each row.

**Pairs left out** (``_left_out``). The AUC is the probability that a positive row
scores above a negative one, so one row of each class is left out together: leaving out
single rows would shift the intercept and bias the AUC downwards. With the Hessian H of
the objective, ``Q = X H⁻¹ Xᵀ`` (X with a column for the intercept) and
``F = I − Q diag(ω)``, one Newton step without the rows S = {i, j} gives

    z_S⁽⁻ˢ⁾ = z_S + (F_SS)⁻¹ Q_SS g_S,

a 2×2 system for each pair; the step is exact for squared losses. For curved losses of
up to 10⁴ numbers n min(n, P) Newton's method is repeated until it settles: without each
pair, or, where there are many, without each row, and the two rows of a pair are joined.
A pair is more than the sum of its rows. Let ``z_k + E_ki`` be the score of row k under
the fit without row i. Without j, the slope of i changes by the factor 1 + κ_ij, and
what is left out with i grows likewise; with factors ρ on both rows of the pair,

    z_k⁽⁻ⁱʲ⁾ = z_k + ρ_i E_ki + ρ_j E_kj,   ρ_i = 1 + κ_ij ρ_j,   ρ_j = 1 + κ_ji ρ_i.

It is exact for squared losses, whose κ_ij is ``ω_i E_ij/g_i``. For others κ_ij is
``g_i(z_i + E_ij)/g_i(z_i) − 1``, at most 1.6 times as large, because the other rows of
separated classes answer a slope that grows exponentially.

Beyond 10⁴ numbers, one step errs by less than .01, by up to −.04 for a squared hinge
with P near n. The estimate is the share of pairs with ``z_j⁽⁻ˢ⁾ > z_i⁽⁻ˢ⁾``, j
positive, i negative; ties count ½. If a class has more than 250 rows, an even sample of
them forms the pairs, and

    A = A(fit, all rows) + A(left out, sample) − A(fit, sample).

The means of a row's pairs are its placement; the variance is DeLong's sum of the
variances of the two mean placements, and at least ``A(1 − A)/(2 max(n₀, n₁))``. If a
row has weight f, the fraction 1/f of it is left out. If the model separates the classes
under a very weak penalty, all ω nearly vanish and one Newton step overshoots; where it
is not repeated, the penalty is then raised to 1e-4 of a column's sum of squares.
A scaler in front has another mean without two rows. Beside a free intercept w does not
depend on it; rows are left out of the model with a free intercept there.

**The .632+ bootstrap** (``_samples``). A model without a closed form is refitted to
K samples by ``model_selection``. A sample leaves out about e⁻¹ of the rows, which gives
the out-of-bag AUC A_out; it is too low, because a sample has fewer distinct rows. The
AUC A of the training rows is too high. With no information the AUC is ½, so

    R = (A − A_out)/(A − ½) in [0, 1],   w = .632/(1 − .368 R),   (1 − w) A + w A_out.

A_out below ½ is not raised to ½: on rows without information the estimate is then
unbiased. The samples are balanced: each leaves out equally many rows, and each row is
left out equally often. The variance of the estimate is Hanley & McNeil's with n/2 rows
in each class.

**Pairs of groups** (``_groups``). Rows S of two groups are left out together, by the
step above with Q_SS and F_SS in place of the 2 × 2 system: ``z_S + F_SS⁻¹ Q_SS g_S``.
The AUC is that of pairs between the groups, its variance the jackknife's over groups.

**Pairs out of bag** (``_out_of_bag``). A forest's single fit has members that drew
neither row of a pair; they compare it.

**Repeated folds** (``_samples``). Where bootstrap samples mislead, because a fit
interpolates its rows or a step in front was fitted closely to them, rows are left out
by repeats of stratified folds; the AUC is that of the pairs within a fold.

**Discriminants.** ``(Σ_c a_c W_c + Λ)⁻¹(x̄₁ − x̄₀)``, W_c the scatter matrix of class c,
is the direction of the ridge regression of t with class weights a_c and penalty Λ.

References
----------
Airola et al. (2011), https://doi.org/10.1016/j.csda.2010.11.018 (leave-pair-out).
Efron & Tibshirani (1997), https://doi.org/10.1080/01621459.1997.10474007 (.632+).
DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595.
Hanley & McNeil (1982), https://doi.org/10.1148/radiology.143.1.7063747.
Davison, Hinkley & Schechtman (1986), https://doi.org/10.1093/biomet/73.3.555
(balanced samples).
"""
