"""Measurements side by side: ours, torch and, with MXNET191_PYTHON, MXNet 1.9.1.  `make bench` runs them."""
