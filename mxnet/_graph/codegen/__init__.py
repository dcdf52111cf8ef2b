"""From traced graphs to functions."""
