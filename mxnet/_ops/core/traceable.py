"""What an operator raises that can be run but not traced."""


class CannotTrace(Exception):
    """What is computed depends on values, or on something else that a graph of ATen calls cannot express."""
