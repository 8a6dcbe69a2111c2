"""The adaptive prior: the expected AUC of any linear model of a data set.

A data set is modelled once, and the model is then evaluated along the direction w of
every candidate. This folder takes arrays and knows neither labels nor estimators. All
mathematics of this folder:

1. Rows (``_scatter``). Features are divided by their pooled within-class standard
   deviation. ``W = V diag(λ) Vᵀ`` is their scatter within the classes, d the
   difference of the class means, ``b = Vᵀd``, x a direction of length 1. With more
   features than rows V is represented by combinations of the rows. A standardised
   difference of a noise feature has ``ν/(ν − 2)`` times its nominal variance,
   ν = n − 2, because its standard deviation is estimated, too; the noise of d
   contains this factor. (Without it 20 rows of 20 000 noise features look like a
   strong dense signal.)

2. Covariance models (``_covariance``), with the eigenvectors V, a variance ℓ along
   each of them, ℓ₀ in the null space of W, and a noise η of d. Two of them are
   averaged, ``η = σ₀²/n₀ + σ₁²/n₁`` with ``ℓ = (σ₀² + σ₁²)/2``:

   - inverse Wishart, ``Σ ~ IW(asI, P + 1 + a)``, with the a and s of largest evidence:
     ``(as + λ)/(a + n − 2)``, times ``tr Σ_c/tr Σ`` for each class, ``df = a + n``;
   - cross-validated: in five folds the scatter of the other rows is decomposed; σ_c²
     is the mean square of the left-out rows of class c along the k-th eigenvector.
     Folds differ in rank, so that eigenvectors with equal k/rank are averaged, and the
     variances are made monotone. For n > 20 P the sample's
     own variances are used.

   Where d reaches into the null space of W, as with P ≥ n, real rows, which are alike
   and of unequal size, break both. There the rank of W over P is the weight of the two,
   and a third has the rest: its noise is that of labels which ignore the rows. With
   ``T = W + h ddᵀ``, ``h = n₀n₁/n``, of rank m, always
   ``√h d = T^½u`` with |u| = 1: random labels turn u and leave T. The energies of d
   along the eigenvectors of ``T − T^½uuᵀT^½`` at ``u_k² = 1/m`` are the noise of b
   (the mean over permuted labels to a few percent), made monotone. In the null space
   ``h|d_⊥|² = 1/q``, ``q = uᵀT⁻¹u``. Permuted labels, with the rows U of the
   eigenvectors of T, ``B = U diag(1/λ_k − c) Uᵀ`` and c the mean of 1/λ, give q the
   mean c and the relative variance ``ρ = [2 Σ B_ij² + (n/h − 6) Σ B_ii²]/(mc)²``. So
   the null space counts as ``D = 2/ρ`` dimensions, at most P − r, of the noise
   ``(1 + ρ)/(hcD)`` each: D is near P for independent features, and tens or hundreds
   for correlated ones, however many there are. Here ``ℓ = hη``.

3. Signals (``_signals``). The prior is on the attainable AUC u, the AUC of the best
   linear model: ``P(Φ⁻¹(u) ≤ z) = (1 − e^{−z/2})^c``. Under each covariance one third
   of the prior mass has no signal, one third dense signals
   ``δ ~ N(0, τΣ^γ)``, γ ∈ {0, ½, 1, 3/2, 2}, ``τ Σ ℓ^{γ−1} = 2Φ⁻¹(u)²``, one third
   few strong ones (section 4). The evidence of d gives their posterior weights. With
   ``k = τℓ^γ/(τℓ^γ + η)`` dense signals have ``E xᵀδ = Σ x_i k_i b_i`` and
   ``Var xᵀδ = Σ x_i² k_i η_i``.

4. Few strong signals (Zuber & Strimmer 2009). ``ω̂ = N^{−½}d``, N the noise
   of d, has one entry per feature and variance 1. Its entries are t values, which are
   mapped to normal scores (Wallace 1959). ``ω_j ~ (1 − π) 0 + π N(0, τ)``,
   ``πPτ = 2Φ⁻¹(u)²`` in units of the noise, π = ½, ¼, … down to half a feature. With
   the probability r_j of a signal and ``k = τ/(τ + 1)``: ``E ω_j = r_j k ω̂_j``,
   ``Var ω_j = r_j k + r_j(1 − r_j)(k ω̂_j)²``, and ``xᵀδ = (N^½x)ᵀω``.

5. Probits. In a component with mean D and variance v of ``xᵀδ`` and variance σ² of the
   scores, ``Z = Φ⁻¹(AUC) = (D √(χ²_df/df) + √v N(0, 1))/(√2 σ)``. M and V are mean and
   variance of Z under one covariance, ``m_k = M/√(1 + V)``; with the weights a_k of the
   covariances ``m = Σ a_k m_k``, ``s² = Σ a_k [V_k + (m_k − m)²]``.

6. Join (``_join``) with an AUC a of rows left out (:mod:`skauc.leave_pair_out`), of
   n rows, ``z = Φ⁻¹((an + ½)/(n + 1))``, s_b² Hanley and McNeil's variance in probits:

       w = max(⅔, 1 − s_b²/(z − m)²),  estimate  m + w (z − m),
       variance  (1 + ¾ P/(P + .4 n)) s_b²  at the estimate.

   If z and the mean difference along w have opposite signs, z is replaced by 0. Where z
   is far from m, as on texts of few words, the model does not describe the rows; the
   weight is James and Stein's. All ways of leaving rows out have this variance; the
   noise of a solver, or placements of pairs that vary more than Hanley and McNeil's,
   enlarge s_b². Candidates are ranked by the mean of m_k under the first two
   covariances, or a third of the way from there to z if refits are requested. AUCs are
   reported by the estimate.
   Where no row can be left out, m is the estimate, and with fewer than n/10 features
   partly the AUC of the training rows; .4² is added to the variance.

The class means of new scores (EBAUC, error rates) are predicted by the dense signals
under the inverse Wishart.

References: James & Stein (1961), https://projecteuclid.org/euclid.bsmsp/1200512173;
Zuber & Strimmer (2009), https://doi.org/10.1093/bioinformatics/btp460;
Wallace (1959), https://doi.org/10.1214/aoms/1177706095; Hanley & McNeil (1982),
https://doi.org/10.1148/radiology.143.1.7063747.
"""
