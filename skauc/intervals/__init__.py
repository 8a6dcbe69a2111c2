"""AUCs of given scores: estimates, intervals, tests; ``f(y_true, y_score)``.

``_sample`` holds the two samples (of rows in blocks it gathers labels, weights and
scores). ``statistics._levels`` holds their distinct scores and computes AUC, errors and
ROC corners from these. ``_limits`` turns an error into limits,
``_resampling`` draws weights and permutations. Users call ``_auc_estimate``,
``_compare``, ``_multiclass``, ``_partial_auc``, ``_empirical_roc``,
``_operating_points``, ``_power`` and ``_projection``. Everything below is for n₀
negatives and n₁ positives, ψ(u) = 1, ½, 0 for u above, at and below 0, Â the mean of
ψ(s_i − s_j) over all pairs (i positive, j negative).

**1. Placements.** ``V₁₀(i) = mean_j ψ(s_i − s_j)`` of a positive and ``V₀₁(j) = mean_i
ψ(s_i − s_j)`` of a negative both have the mean Â. DeLong's covariance of the AUCs of k
scores is ``S₁₀/n₁ + S₀₁/n₀`` with the sample covariances of the placements. For
clusters the sums of ``V − Â`` over a cluster take the place of the rows (Obuchowski),
each sum of squares times G/(G − 1), G its number of clusters. Everything that has no
covariance of its own divides counts of rows by the *design effect* of its influence
function (``statistics._weights.design_effect``).

**2. Limits on a scale.** ``g⁻¹(g(Â) ± z SE g'(Â))``, SE the standard error and z the
normal quantile of the level, for g the identity (clipped) or the logit. Where the
error is estimated as 0, or Â is 0 or 1, the limits are Clopper and Pearson's for
``Â m`` successes in ``m = min(n₀, n₁)`` trials: no AUC varies more than a share of the
smaller class, ``Var Â ≤ A(1 − A)/m``.

**3. Score intervals.** All A with ``|Â − A| ≤ z √V(A)``. V is Hanley and McNeil's
variance

    V(A) = A(1 − A){1 + (n₁ − 1)(1 − A)/(2 − A) + (n₀ − 1) A/(1 + A)}/(n₀ n₁),

with (n₀ + n₁)/2 for both sizes in the braces (Newcombe's method 5), and for the default
the larger of that and DeLong's variance scaled to ``A(1 − A)``. For it a perfect
ranking counts as half a pair less, ``1 − Â − 1/(2n₀n₁)`` in place of ``1 − Â``: without
this correction of continuity 3 + 3 rows reject ½ at 5 % with probability .1.

**4. Tests.** ``z = (Â_a − Â_b − null)/SE``; for k scores with the covariance S
``(LÂ)ᵀ(LSLᵀ)⁻¹(LÂ)``, L the differences from the mean, which is χ² with rank(LSLᵀ)
degrees of freedom. Estimated variances of 0 are replaced by the largest possible: 1/m
for a difference on the same rows (both V lie in [0, 1]), ``(1/m_a + 1/m_b)/4`` for
different rows. One AUC is compared with a constant by ``SE = √V(null)`` of section 3.
With ``V = (N + 1)/(12 n₀ n₁)`` at ½ that is Mann and Whitney's test, if the ranking is
not perfect.

**5. Only the number of errors is known** (Cortes & Mohri 2004).

m positives, n negatives, N = m + n. All strict rankings with a threshold in one of
their N + 1 gaps are equally likely; condition on k errors, x false positives and
y = k − x false negatives. Given x,

    E[A|x]   = 1 − ½(x/n + y/m),
    Var[A|x] = {(m − y) x (M + 1) + (n − x) y (M' + 1)}/(12 m² n²),
    P(x)     ∝ C(M, x) C(M', y),    M = m − y + x,    M' = N − M,

so that mean and variance need E[x] and E[x²] (the cubes cancel). The published closed
form for them holds for k ≤ min(m, n) and cancels; this one holds for every k.

**Derivation.** Let ``α = |k − m|``, ``β = |k − n|``, ``d = α + β`` and shift the
counts to ``i = x − (k − m)₊``, ``j = y − (k − n)₊``; their sum is
``L = min(k, m, n, N − k)``, and ``d = N − 2L``. Both binomials become central,
``C(2i + α, i) C(2j + β, j)``, with generating functions ``F_α(z) = c(z)^α s(z)``,
Catalan's c and ``s = (1 − 4z)^−½``. From
``z c'/c = (s − 1)/2`` and ``z s' = s(s² − 1)/2``, weighting by ``i^q`` multiplies
``F_α F_β = c^d s²`` by a polynomial Q_q(s)/2^q,

    Q₁ = α(s − 1) + s² − 1,    Q₂ = Q₁² + s(s² − 1) Q₁',

and with ``G_p = [z^L] c^d s^p / [z^L] c^d s²``, [z^L] the coefficient of z^L, the same
two identities give for the ratios ``R_p = G_{p+1}/G_p``

    R_p = (N + p)/(d + p R_{p+1}),    R_{p+1} = (N + p + 1)/p · I_p/I_{p−1},
    I_p = ∫₀¹ v^p (1 − v²)^L (1 − v)^d dv,

because integration by parts gives the integrals the same recurrence, and it has one
positive solution. Downwards errors of its start die out, so that one Gauss–Legendre
rule at p = 7 is enough, and ``h_p = R_p − 1`` and ``e_p = R_p − R_{p+1}`` have
recurrences of their own. Then E[i], E[j] and Var[i] = Var[j] follow from h, e and G,
and

    1 − E[A] = ½(E[x]/n + E[y]/m),
    12 m² n² Var[A] = (m − y) x (M + 1) + (n − x) y (M' + 1) at the means
                      + {3N + 2 + 3(m − n)²} Var[i],

sums of positive terms: nothing cancels, and the relative error is a few roundings
for every k and N. Nothing here needs k to be whole.

**6. A part of the curve.** Along the trapezoidal curve (x, y) = (FPR, TPR) the area
over ``a ≤ x ≤ b`` is ``∫ (b − clip(x, a, b)) dy``, the mean over the positives of
``V₁ = b − clip(x, a, b)``. Moving a share ε of the negatives to a score at (x_j, y_j)
moves x by ``ε(1{x ≥ x_j} − x)`` and the area by ``−∫ δx dy`` over the range, so that
``V₀ = clip(y_j, ROC(a), ROC(b)) − ROC(b)``, except for a constant of all negatives.
Tied rows take the means over their straight piece of the curve. For ``a = 0, b = 1``
they are section 1's placements, and section 1 gives their variance. An area over a
range of TPR is that of the swapped classes, of scores −s, over ``1 − b ≤ FPR ≤ 1 − a``.

**7. Resampling.** A Bayesian bootstrap draws Gamma(w) weights of the distinct scores
(or rows), which over their sum are Dirichlet. For the bands of a curve more than 512
distinct scores are joined to blocks.

Permutation (Bandos, Rockette & Gur 2005). The null hypothesis is that the two scores of
a row may be exchanged after both became ranks. Then every choice of rows to swap is
equally likely. A swap of row r (``s_r = −1``) changes the difference of the AUCs by

    Â_a − Â_b = Σ_r s_r c_r,    c_r = {V(a_r) − V(b_r)}/n_c,

V the placement of a rank of row r among the 2n ranks that the rows of the other class
have under both scores. A permutation therefore costs O(n) without a sort. Rows of one
cluster are swapped together, and their c are added. The test is exact if the scores
themselves may be exchanged, and nearly exact for scores without a common scale.

**8. A planned study.** The test rejects where the distance found exceeds ``z √V̂``, V̂
the variance that the study will estimate: for one AUC V of section 3, for two that of
their difference. It depends on what is found, so that the smallest significant
distance r solves ``r = z √V(r)``, V(r) the planned variance where the AUC is r beyond
the border of the null hypothesis (of two AUCs each makes half of the change). The power
is the tail beyond r of the beta law that has the mean and the variance of the AUC (of
½ + d/2 for a difference d), because the law of an AUC near 1 is skew. The planned width
is that of the interval around the true AUC.

Two normal scores a, b with the same variances in both classes have the AUCs ``Φ(h)``
and ``Φ(k)``; r₀ and r₁ are their correlations within the negatives and the positives.
Differences of a positive and a negative row are normal too, and their correlation is
r₁/2 if two pairs share the positive row, r₀/2 if they share the negative one and
(r₀ + r₁)/2 if they share both. With ``c(r) = Φ₂(h, k; r) − Φ(h)Φ(k)``

    Cov(Â_a, Â_b) = [c((r₀ + r₁)/2) + (n₀ − 1) c(r₁/2) + (n₁ − 1) c(r₀/2)]/(n₀ n₁),

which is exact; k = h, r₀ = r₁ = 1 gives the variance of one AUC. By Plackett's identity
c is a sum of terms of one sign:

    c(r) = 1/(2π) ∫₀^{asin r} exp{−(h² − 2hk sin t + k²)/(2 cos² t)} dt.

References
----------
DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595; Obuchowski
(1997), https://doi.org/10.2307/2533958; Hanley & McNeil (1982),
https://doi.org/10.1148/radiology.143.1.7063747; Newcombe (2006),
https://doi.org/10.1002/sim.2324; Pepe (2003), section 5.2.6, for the logit scale;
Clopper & Pearson (1934), https://doi.org/10.1093/biomet/26.4.404; Cortes & Mohri
(2004), NIPS 17, 305–312, https://papers.nips.cc/paper/2645.
"""
