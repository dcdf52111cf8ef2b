"""CUDA graphs, streams and kernels."""
