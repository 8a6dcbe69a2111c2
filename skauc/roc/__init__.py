"""ROC curves of known score distributions.

1. Binormal scores (``_binormal``): ``neg ~ N(μ₀, σ₀²)``, ``pos ~ N(μ₁, σ₁²)``,

       FPR(t) = Φ((μ₀ − t)/σ₀),   TPR(t) = Φ((μ₁ − t)/σ₁),
       ROC(u) = Φ(a + b Φ⁻¹(u)),  a = (μ₁ − μ₀)/σ₁,  b = σ₀/σ₁,
       AUC = Φ((μ₁ − μ₀)/√(σ₀² + σ₁²)).

2. Quadratic discriminants (``_quadratic``). The log likelihood ratio of two normal
   classes is a quadratic function of x. With x = m + Lz, z ~ N(0, I), and
   ``T_k = Σ_k^{−½}L``, ``d_k = Σ_k^{−½}(m − μ_k)`` it is ``zᵀAz + bᵀz + c`` with

       A = ½(T₀ᵀT₀ − T₁ᵀT₁),  b = T₀ᵀd₀ − T₁ᵀd₁,
       c = ½(d₀ᵀd₀ − d₁ᵀd₁) + ½ log(|Σ₀|/|Σ₁|) + log odds,

   and after a rotation a quadratic form ``S = c + Σ_j (λ_j z_j² + b_j z_j)``
   (``_quadratic_form``). The AUC is ``P(S₁ − S₀ > 0)``, one such form.

3. Tails of a quadratic form (``_contour``). With ``D_j = 1 − 2λ_js`` the cumulant
   function of ``S − c`` is ``K(s) = Σ_j [b_j²s²/(2D_j) − ½ log D_j]``, and for every r
   between 0 and the first branch point 1/(2 max λ)

       P(S − c > y) = (1/2πi) ∫ exp(K(s) − sy)/s ds,   upwards through r.

   On the imaginary axis the digits of this integral cancel in the tails. The path is

       s(u) = r + w (i sinh u + κ(cosh u − 1)):

   r is the saddlepoint of the whole integrand, the pole included; w is the width of the
   saddle; sinh u makes any power of s fall exponentially; and κ ∈ {−0.6, 0, 0.6} bends
   the path to the side on which the integrand falls first. The trapezoidal rule in u
   converges geometrically.

References: Krzanowski & Hand (2009), *ROC Curves for Continuous Data*, chapter 2,
https://doi.org/10.1201/9781439800225, for section 1; Rice (1980),
https://doi.org/10.1137/0901032, and Imhof (1961),
https://doi.org/10.1093/biomet/48.3-4.419, for section 3.
"""
