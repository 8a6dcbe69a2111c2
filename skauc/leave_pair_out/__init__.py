"""The AUC of a fitted model on rows left out of it, without fits of the estimator.

Everything here takes arrays: rows X, a mask ``positive``, frequency weights, and what
the model minimised (:mod:`._objective`). No estimator is known.

1. **Objective.** ``Σ c_i loss(z_i) + (λ/2)‖w‖² [+ l1‖w‖₁]``, ``z = Xw + b``, c class
   weight times sample weight; or a discriminant ``(Σ_c a_c W_c + Λ)⁻¹ d``. At the
   optimum ``Xᵀg + λw = 0`` with ``g_i = c_i loss'(z_i)``: rows with another gradient
   did not train the model.
2. **Influence.** With ``ω_i = c_i loss''(z_i)`` and H the Hessian, ``Q = X̃H⁻¹X̃ᵀ`` and
   ``F = I − Q diag(ω)``. One Newton step without the rows S gives
   ``z_S⁽⁻ˢ⁾ = z_S + (F_SS)⁻¹ Q_SS g_S``: exact for squared losses.
3. **Leave-pair-out.** S runs over the pairs of a positive and a negative. The share of
   pairs with ``z_i⁽⁻ˢ⁾ > z_j⁽⁻ˢ⁾`` estimates the AUC without the bias of leave-one-out
   (Airola et al. 2011, https://doi.org/10.1016/j.csda.2010.11.018). Of more than 1000
   sparse rows with more features Q and F come from products with the rows.
4. **Leave-one-out**, for n ≫ P: S = {i}, all rows at O(nP²), or an even sample of
   them, which tells what leaving out takes off the AUC of all; what a row does to the
   intercept is left in, because in a pair it cancels; rows that are near (levels of a
   category) are left out in pairs. Of many dense features one curvature stands for
   those of all other rows: one decomposition for all models.
5. **Bootstrap.** Samples are other weights c of the same rows. Refits start at the fit
   and take Newton steps together: in the span of the rows (P ≥ n) or of the features,
   smooth losses and the hinge as a limit of them; on a working set for L1, in the
   scores of the rows for an elastic net of more features; in closed form for
   discriminants. .632+ (Efron & Tibshirani 1997,
   https://doi.org/10.1080/01621459.1997.10474007) weighs the AUC out of bag and the
   apparent one, that of the optimum.
6. **Second source.** Which of 3, 4 and 5 is asked: measured errors and costs in
   :mod:`._second_source`.

What stands right imports what stands left, and any of ``_losses``, ``_objective``,
``_newton`` and ``_pairs``.

::

    _pair_response ← _one_curvature, _response_by_kernel, _response_by_products
    _pair_response, _response_by_products ← _ridge_path
    _one_curvature, _response_by_kernel, _response_by_products ─┐
    _rows_of_pairs, _sparse_optimum, _pair_response ────────────┴─ ← _influence
    _influence, _pair_refits, _pair_response ← _estimate
    _influence, _sparse_optimum, _row_space, _margin_rows ← _smooth_refits
    _smooth_refits ← _block_optimum, _discriminant_refits, _dual_refits
    _smooth_refits, _dual_refits ← _proximal_refits
    _inverse_squares ← _eigenrows
    _eigenrows ← _inverse_root
    _inverse_root, _left_out_pairs, _bent_steps, _eigenrows ← _leave_one_out
    _eigenrows, _sparse_optimum ← _preconditioned_optimum
    _block_optimum, _sparse_optimum, _preconditioned_optimum, ──┐
    _smooth_refits, _proximal_refits, _eigenrows, _influence ───┴─ ← _optimum
    _bootstrap, _smooth_refits, _proximal_refits, _dual_refits, │
    _discriminant_refits, _optimum (.632+) ─────────────────────┴─ ← _bootstrap_refits
    _estimate (leave-pair-out), _leave_one_out, _smooth_refits, │
    _discriminant_refits, _block_optimum, _optimum, ────────────┤
    _bootstrap_refits ──────────────────────────────────────────┴─ ← _second_source
"""
