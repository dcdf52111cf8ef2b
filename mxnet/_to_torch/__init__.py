"""Graphs as torch modules: `translate` gives a `torch.fx.GraphModule`, `source` writes the same as Python source."""
from .translate import Translation, translate
