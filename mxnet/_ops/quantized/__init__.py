"""Networks on int8."""
