"""From programs to graphs of ATen calls."""
