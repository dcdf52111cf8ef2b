"""What `remx run` and `import mxnet.compat` put back for programs of the time of MXNet 1.x.

- `_importing`: which modules are the program's; their `import` and builtins; stand-ins for modules
- `_rewrite`, `_helpers`: their syntax trees, and the functions that these call
- `_python2`: programs in Python 2
- `_numpy`, `_stdlib`, `_packages`, `_builtins`: the names that are gone
- `_downloads`, `_made_up`: data
- `_runner`, `_notebooks`, `_spawned`: programs, notebooks, processes
- `_report`: what was put back, and where
"""
