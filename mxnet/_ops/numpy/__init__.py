"""The operators of `mx.np` and `mx.npx`: the kernels of `tensor`, with the rules of NumPy."""
