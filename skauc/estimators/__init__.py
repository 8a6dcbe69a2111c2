"""Classifiers with a ROC curve or inference.

``_logistic`` has the parts of a logistic fit: a ``_logistic_problem``, its solution by
Newton's method (``_newton``) on sums over blocks of rows (``_likelihood``, ``_firth``),
where ``_separation`` proves whether the maximum exists, and a ``_logistic_inference``,
which answers with ``_coefficient_tables`` and reads the rows again where it needs them.
``_gaussian_auc`` uses ``_rayleigh``; ``_lda`` and ``_qda`` extend scikit-learn's
classifiers. ``_rows`` prepares the rows of all estimators, in memory or in blocks, with
the checks of ``_checks``.

**1. Newton's method for logistic models.**

Row i has weight w_i, features x̃_i = (x_i, 1) and class c_i of K. The logits are
``F = X̃ B Tᵀ`` with free parameters B, one column for each of M = K − 1 contrasts, and
a fixed coding T of shape (K, M):

* *reference*: the identity with a row of zeros for the reference class;
* *symmetric*: orthonormal columns that add up to 0, so that ``‖BTᵀ‖ = ‖B‖`` and a
  ridge on B is the ridge on all K coefficient rows.

With p_ik the class probabilities and t_k the rows of T, the log-likelihood, its
gradient and its information (negative Hessian) are

    ℓ = Σ w_i log p_{i c_i},   G = X̃ᵀ diag(w) (Y − p) T,
    H = Σ_{k<m} (t_k − t_m)(t_k − t_m)ᵀ ⊗ S_km,   S_km = X̃ᵀ diag(w p_k p_m) X̃,

because diag(p) − ppᵀ is the Laplacian of the complete graph with edges p_k p_m. Every
S_km is one symmetric product of rows scaled by √(w p_k p_m); nothing larger than a
block of rows is copied, and the binary model is M = 1, T = (0, 1)ᵀ.

**2. The direction with the largest Gaussian AUC.**

With ``μ = x̄₁ − x̄₀``, ``Σ = Σ̂₀ + Σ̂₁`` (unbiased, one per class) the AUC of the score
θᵀx is Φ(r(θ)) for normal classes, ``r(θ) = θᵀμ/√(θᵀΣθ)``, whose maximiser is
``θ* ∝ Σ⁻¹μ`` with ``r² = μᵀΣ⁻¹μ``. Shrinkage puts ``(1 − α)Σ + ατI``, ``τ = tr Σ/P``,
for Σ.

*Working coordinates* are ``(x − x̄)/s``; for P > n the coordinates of the n rows in
their own span, where I stays I and tr Σ stays tr Σ, so that nothing is ever P×P.
On a singular Σ the part of μ outside its range, if any, is θ*.

**3. Shrinkage.** With z_i the centred row i in working coordinates over √(n_c − 1), so
that ``Σ = Σ_i z_i z_iᵀ``, Frobenius norms and n rows:

    "auto"    α = (Σ_i ‖z_i‖⁴ − ‖Σ‖²/n)/‖Σ − τI‖²,  at most 1    (Ledoit & Wolf)

**4. Curves of the discriminants.** A linear score of normal classes is normal, so that
the ROC curve of LDA is binormal with one deviation; that of QDA is the distribution of
a quadratic form (:mod:`skauc.roc`). For K > 2 there is one curve for each pair of
classes, and the AUC is their mean (Hand & Till).

References
----------
Albert & Anderson (1984), https://doi.org/10.1093/biomet/71.1.1; McCullagh & Nelder
(1989), https://doi.org/10.1007/978-1-4899-3242-6; Ghanbari & Scheinberg (2018),
https://arxiv.org/abs/1802.02535; Su & Liu (1993),
https://doi.org/10.1080/01621459.1993.10476417; Ledoit & Wolf (2004),
https://doi.org/10.1016/S0047-259X(03)00096-4; Hand & Till (2001),
https://doi.org/10.1023/A:1010920819831.
"""
