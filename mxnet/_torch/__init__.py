"""Every private name of torch that mxnet uses, each with a public fallback.

A name of torch is private if a part of it begins with an underscore.  Such names may change with any release.  Modules
of this package look them up; all others take them from here, and a test fails on a private name anywhere else
(`tests/repo/test_repo_torch.py`, which also says which names count).

    switch.py     the switch, and the table of names with their fallbacks
    lists.py      operations on lists of tensors, fused updates
    dispatch.py   what tracing stands on: dispatch modes, stand-ins for tensors, signatures of operators
    autograd.py   the engine, version counters, histories
    memory.py     the identity and the users of a storage, cuBLAS workspaces
    operators.py  operators of torch whose names begin with an underscore
    tools.py      profiler, compilers, OpenMP

MXNET_TORCH_PRIVATE=0 has all fallbacks used.  Programs run, with the same results up to rounding; some run slower:
see each module for what is lost.
"""
