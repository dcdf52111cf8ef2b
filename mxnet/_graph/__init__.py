"""Static graphs: nodes, their JSON, inference of shapes and types, and running them.

Knows nothing of arrays or symbols for people: a graph is a list of entries (node, output number), values are tensors.
"""
