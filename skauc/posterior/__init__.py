"""Closed-form posteriors of the AUC.

This folder takes moments and scores, and knows neither models nor labels. All
mathematics of this folder:

1. Conjugate prior (``_conjugate``). ``Σ ~ IW(S, κ)`` and ``μ_c | Σ ~ N(m_c, Σ/ν_c)``.
   Posterior, with ``n_c, x̄_c, W_c`` of :mod:`skauc.statistics._moments`:

       κ* = κ + n,  ν_c* = ν_c + n_c,  m_c* = (n_c x̄_c + ν_c m_c)/ν_c*,
       S* = S + W + Σ_c (n_c ν_c/ν_c*)(x̄_c − m_c)(x̄_c − m_c)ᵀ.

2. One linear model ``s = wᵀx`` depends on one dimension of it. With ``q = wᵀS*w``,
   ``D = wᵀ(m₁* − m₀*)``, ``v = 1/ν₀* + 1/ν₁*`` and ``df = κ* − P + 1``,

       wᵀΣw = q/χ²_df,   wᵀ(μ₁ − μ₀) | Σ ~ N(D, v wᵀΣw),
       AUC = Φ(Z),       Z = (D √(χ²_df/q) + √v N(0,1))/√2,
       CBAUC = E[AUC] = T_df( D/√((2 + v) q/df) ).


3. Mixtures (``_components``). One quadruple ``(D, v, q, df)`` is a *mixture
   component*; an AUCPosterior is a finite mixture of them. A normal distribution
   ``Z ~ N(m, s²)`` is the component ``D/√(q/df) = √2 m, v = 2s²`` as df → ∞, for which
   CBAUC is ``E Φ(Z) = Φ(m/√(1 + s²))``.

4. One covariance per class (``covariance="separate"``) is one component for every value
   of the variance ratio ``ρ = σ₁²/σ₀²``: with
   ``B = χ²_df₀/(χ²_df₀ + χ²_df₁) ~ Beta(df₀/2, df₁/2)`` and ``ρ = (q₁/q₀) B/(1 − B)``,

       1/σ₀² | ρ = χ²_{df₀+df₁}/(q₀ + q₁/ρ),
       component(ρ) = (D, 2(1/ν₀* + ρ/ν₁*)/(1 + ρ), (1 + ρ)(q₀ + q₁/ρ)/2, df₀ + df₁),

   and a trapezoidal rule in logit B, whose error falls exponentially, makes the
   mixture finite.

5. Variance. ``E[Φ(Z)(1 − Φ(Z))]`` is the probability that a bivariate Student t lies
   in one quadrant, with ``ρ = v/(2 + v)`` and ``t = D/√((2 + v) q/df)``

       ∫_ρ^1 (1 + 2t²/(df(1 + r)))^(−df/2) dr/(2π √(1 − r²)).

   The variance of Φ(Z) is computed as a sum of squares, without cancellation: given χ²
   it is the same integral from 0 to ρ; over χ² it is the variance of
   ``Φ(t √(χ²/df))`` at the nodes of section 6; between components, that of their means.

6. Distribution function. ``√2 Z = μR + √v N`` with ``μ = D √(df/q)``,
   ``R = √(χ²_df/df)``: ``P(Z ≤ z)`` is a noncentral t probability, computed by a
   trapezoidal rule over R, whose nodes are closer than N spreads.

7. More than two classes (``_pairwise``). The posterior mean of the average AUC of M
   pairs is the average of their means. Their dependence is unknown; the largest
   variance belongs to the comonotonic sum,
   ``quantile(q) = (1/M) Σ_pairs quantile_pair(q)``.

8. Many models (``_joint``). With ``Z ~ N(m, V)`` of m AUCs in probits the
   probability of being the best and the expected loss are means over draws, and
   ``Z_i − Z_j ~ N(m_i − m_j, V_ii + V_jj − 2V_ij)``: an error that all models
   share cancels. If scores s
   have errors ``e ~ N(0, U)``, the largest one is too high by ``E e_k``,
   ``k = argmax(s + e)``.

References: Hassan et al. (2019), https://arxiv.org/abs/1908.08771, for CBAUC and
EBAUC; Dalton & Dougherty (2011),
https://doi.org/10.1109/TSP.2010.2084573, for the Bayesian error estimator (BEE);
Dunnett & Sobel (1954), https://doi.org/10.1093/biomet/41.1-2.153, for section 5;
Kaas, Dhaene & Goovaerts (2000), https://doi.org/10.1016/S0167-6687(00)00060-3, for
section 7.
"""
