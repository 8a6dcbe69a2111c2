"""The AUC of a fitted model without refits."""
