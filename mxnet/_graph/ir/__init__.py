"""Graphs of operators: nodes, files, programs."""
