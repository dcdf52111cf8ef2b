"""Shapes and dtypes."""
