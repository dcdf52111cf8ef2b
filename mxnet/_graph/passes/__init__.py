"""Rewrites of traced graphs."""
