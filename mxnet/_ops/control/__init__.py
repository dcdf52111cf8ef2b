"""Operators that run graphs or programs of the user: loops, branches, custom operators."""
