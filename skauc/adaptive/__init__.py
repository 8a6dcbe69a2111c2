"""The adaptive prior: what a data set says of the AUC of any direction in it.

All mathematics of this folder. A direction w has one model of the data set in every
candidate of a search: two nulls, under each of them three kinds of signal (sections 1
to 5), which a second source corrects (6, 7).

1. Rows (``_spectrum``). Deviations from the class means beyond 2.5 pooled standard
   deviations are pulled in, features divided by their pooled standard deviation.
   ``W = RᵀR = V diag(λ) Vᵀ`` of rank r, d the mean difference, ``b = Vᵀd``,
   ``h = n₀n₁/n``, x the direction in these features, |x| = 1. Of more than 1000 sparse
   rows with more features W is not decomposed: what follows asks for smooth functions
   of its eigenvalues, which products with the rows tell (``_ritz_basis``).

   Where W has a null space and the classes vary unlike each other by three standard
   errors, h is divided by ``tr(Σ₀/n₀ + Σ₁/n₁)/tr Σ(1/n₀ + 1/n₁)``, whatever the null:
   Σ is mostly that of the larger class, and the noise of a small one that varies more
   looked like a signal. (60 rows, 12 of the class with the deviations 2, 200 features
   of noise: AUC .80, now .62. Elsewhere real P < n would err by .003 (.001) more.)

2. Inverse-Wishart null (``_mixture``). ``Σ ~ IW(asI, P + 1 + a)``, a and s by their
   evidence of W: ``ℓ_k = (as + λ_k)/(a + n − 2)``, ``ℓ₀ = as/(a + n − 2)`` in the null
   space, ``df = a + n``, ``q = as + xᵀWx``. Also with one covariance a class. a is P/16
   to 32 P, and 10⁴ P, a sphere: of independent features and many rows an a that is too
   small costs nats, fewer with two covariances than with one.

   Few strong factors are too narrow for one scale s, so that white noise with q of them
   stands beside it (``_factors``): ``Σ = V diag(ℓ) Vᵀ + σ²(I − VVᵀ)``, for n ≤ 20 P, q
   up to 12 by the evidence of W, ``mℓ = λ − Dℓσ²/(ℓ − σ²)`` with m = n − 2 and
   D = P − q; along another eigenvector ``σ² + Σ_i σ²ℓ_i/(λ_i − λ_j)``. df by
   Satterthwaite, and the mean difference turns factor i by √(hℓ_i) xᵀ(d − δ)/mℓ_i
   towards x, which adds ``q h(xᵀd − xᵀδ)²/m²`` to xᵀΣx.

3. Cross-validated null (``_cross_validated``). Along an eigenvector that the same rows
   have found their spread says too much (leading ones) or too little (null space).
   In K = 10 folds (5 of 500 rows or more with more features) W of the other rows is
   decomposed; ℓ_k is the mean of
   ``(v_kᵀ(x − x̄_c))²/(1 + 1/n_c)`` over rows left out, x̄_c and n_c of the others,
   averaged at equal share ``(k − ½)/r`` of the rank and made monotone; what is left of
   the squares, over P − r, is ℓ₀. Folds are dealt along the key ``|r|² ± rᵀd``, so that
   neither the order of the rows matters nor whether a row is written twice or weighs 2.
   ``df = a + n`` of the cell of section 2 that W likes best, ``q = df · xᵀΣ̂x``.
   For n > 20 P it is the sample's, and the two nulls are one.

   A direction with s of the P features, and five rows of the smaller class for each of
   these (behind a selector, or with an L1 penalty): Σ̂ is of all features, and the rows
   know more of the variance along it, if neither class is (all but) constant. Whatever
   the null ``q = xᵀWx/(1 − s/n)²`` there, for w was fitted to these rows, and df = n,
   or of two covariances Satterthwaite's; v stays in units of the null's own variance.
   (Logistic labels halve the variance along five strong signals of hundreds.)

   In both, but for that, the mean difference is one more observation of Σ:
   ``q ← q + h((xᵀd − D)² + noise)``, ``df ← df + 1``, ``v = noise (df − 2)/q`` make the
   mixture component ``(D, v, q, df)`` of :mod:`skauc.posterior`.

4. Signals (``_null``, ``_mixture``), weighed by the evidence of d, with
   ``Σ̂ = V diag(ℓ) Vᵀ + ℓ₀(I − VVᵀ)``; the prior is on the attainable AUC u,
   ``2u − 1 ~ Beta(2, 1)``:

   - none: ``d ~ N(0, Σ̂/h)``, AUC ½;
   - dense: ``δ ~ N(0, τΣ̂^γ)``, γ ∈ {0, ½, 1, 3/2, 2}, ``τ Σ ℓ^{γ−1} = 2Φ⁻¹(u)²``;
     with ``k = τℓ^γ/(τℓ^γ + ℓ/h)``: ``D = Σ x_i k_i b_i``, noise ``Σ x_i² k_i ℓ_i/h``;
   - slab: section 5.

   Every (covariance, a) has the prior mass ⅓ for each kind that it has. With common
   covariances alone, as under the second null, that is a third each; where the first
   null has as many separate ones, which have no slab, it is .4, .4, .2, and dense
   signals take the share of a slab that is nowhere. (A third each there moves the AUC
   by 4e-4 on the average, .0024 at most: 24 simulated, 17 real problems of 20 to 100
   rows.)

5. Few strong signals (``_slab``; Zuber & Strimmer 2009,
   https://doi.org/10.1093/bioinformatics/btp460). ``ω = Σ̂^{−½}δ``, the noise of
   ``ω̂ = Σ̂^{−½}d`` is I/h; ``ω_j ~ (1 − π) 0 + π N(0, τ)``, ``πPτ = 2Φ⁻¹(u)²``,
   π = ½, ¼, … down to half a feature. Log evidence relative to none
   ``Σ_j log[1 − π + π N(ω̂_j; 0, τ + 1/h)/N(ω̂_j; 0, 1/h)]``; with responsibility r_j
   and ``k = τ/(τ + 1/h)``: ``E ω_j = r_j k ω̂_j``,
   ``Var ω_j = r_j k/h + r_j(1 − r_j)(kω̂_j)²``; with ``x̃ = Σ̂^½x``: ``D = Σ x̃_j E ω_j``,
   noise ``Σ x̃_j² Var ω_j``. Separate covariances have no slab: their noise is not Σ̂/h.

6. Join (``_join``), in probits. Labels do not choose the null, because their evidence
   takes noise that a null does not know for a signal: half and half. With M, V the
   mean and variance of Z = Φ⁻¹(AUC) under a null and ``m_k = M/√(1 + V)``,

       m = (m_iw + m_cv)/2,   s_m² = (V_iw + V_cv)/2 + (m_iw − m_cv)²/4.

   A second source of AUC a has ``z = Φ⁻¹((an + ½)/(n + 1))`` and variance s_b²: Hanley
   and McNeil's over φ(z)², of leave-one-out and leave-pair-out their own if it is
   larger, of true refits of the whole estimator (.632+ of samples that leave every row
   out equally often) 3/2 of it. Leave-one-out's own variance V is believed where it is
   smaller, too, but for two of its standard errors: ``V(1 + 2√(6/k))``, k rows of the
   smaller class being ranked wrong. With t for what neither null describes,

       t² = max(s₀², (z − m)₊²/4 − s_m² − s_b²(m)),
       w = (t² + s_m²)/(t² + s_m² + s_b²),   estimate m + w(z − m),
       choice m + w_c(z − m),   w_c = ½ min(1, R/20) of R refits,
       s = (2 − w)(w s_b + (1 − w)√(t² + s_m²)),   s_b at the estimate.

   A model that does not know its rows (0/1 words, in which both nulls see no signal; a
   slab that takes missed correlations for signals) is as sure of itself as any other.
   So where z is more than two standard deviations above m, s_b at m as for any
   hypothesis, what the model missed is as much as makes them two. (·)₊ is what is
   positive in the direction of xᵀd: z comes of models of fewer rows, which may be worse
   (of unstable selections far worse), and is bounded by the number of rows.

   Standard deviations add: both sources saw the same rows. 2 − w widens by what is
   still the model's word. As s_b → 0, w → 1 and s → s_b. A source beyond the z' at
   which ``w(z')(z' − m)`` is largest says no less than there. A model that nothing is
   set against (``leave_pair_out=False``, one feature, a class of one row) has w = 0
   and t = 0: estimate m, ``s = 2 s_m``.

   The posterior's mean is the estimate, so its Z is normal around
   ``estimate √(1 + s²)``, further from ½: a normal around the estimate itself is 45 %
   wider on real rows, covers .97 instead of .96 and scores worse as an interval.

7. No source of its own (``_reference``): nine ridge models with their exact
   leave-pair-out z_l: estimate ``m ± κ c mean_l w_l(z_l − m_l)``, the sign that of xᵀd,
   κ = ¾ what they share with other models; w and t² in s are κ mean_l w_l and the
   mean of t_l²; choice ``m ± w_c mean_l(z_l − m_l)``,
   which candidates with a source of their own are off by on the average, too. Where the
   shift is towards ½, what the ridge models say is too much by a factor: c is
   ``|m|/mean_l m_l``, between 0 and 1, of a direction that says less; else c = 1.

8. Predicted scores (error, rates, EBAUC; ``_learnt``) are those of the dense mixture
   of section 2 alone.

Covariances that the user has fixed, ``"separate"`` or ``"spherical"``, are not
estimated a second time: section 2 is the only null.

Constants. Chosen on development problems, simulated and real, seeds below 500, logistic
regression with an L2 penalty; errors are ratios to five-fold cross-validation's, (SE):

=================  =================================================================
s₀ = .1            MAE on few signals .56; .2: .63, paired +.064 (.016); .05: .55
no signal ⅓        random labels .49; 0: .55; ½: .46, but real P < n +.008 (.004)
two deviations     0/1 words, simulated, .68; t = s₀: .83, paired +.155 (.062); 1.5 and
                   2.5 equal; elsewhere within .003 (.002). Below m, too: few signals
                   behind five refits +.061 (.022)
κ = ¾              SelectKBest and L1 without their own source, 1: +.021 (.004), in each
                   group; ½ equal (.008); ridge models without theirs +.013 (.011)
c of section 7     SelectKBest, c = 1: +.009 (.005), on 144 runs of 30 other real sets
                   +.109 (.053); c beyond 1: few signals +.029 (.016)
w_c = ½            from .3 to .7 equal; 0: loss by choice on few signals .80, not .46
factors            without, few signals +.053 (.009); with an inverse Wishart in the
                   place of white noise real P ≥ n +.085 (.050)
dense : slab 1:1   without the slab few signals .68, not .56, their loss .71, not .44
nulls ½ : ½        real P ≥ n: the first alone +.27 (.20), the second alone +.43 (.23)
K = 10             K = 5: −.12 in probits at 60 × 60 rows of sonar
winsorize = 2.5    None: error of the AUC .0000 (.0005), loss −.0005 (.0002); 4 and 6
                   as None; 0/1 words, P ≫ n, 58 runs: None +.0076 (.0013)
=================  =================================================================

::

    _winsorised_rows ┐
    _ritz_basis      ├ _eigenbasis ← _spectrum ← _cross_validated ← _mixture ┐
    _even_gram       ┘               _tridiagonal ────┘     _factors ────┘   │
    _slab, _join ──────────────────────────────────────────┴─ _null ← _reference
    _cache, _null, _reference ← _learnt ← _beliefs, _prior
"""
