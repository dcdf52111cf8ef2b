"""Random whole programs, run with and without deferred execution and, where it is installed, by MXNet 1.9.1.

`python -m tests.fuzz_programs SEEDS` runs a campaign (`make fuzz`).  A seed gives a program (`generate.py`): statements
as text (`program.py`), valid for both libraries, that log what they see.  Processes run it in several modes
(`worker.py`, `runner.py`), the logs are compared (`compare.py`), and a program with a difference is shrunk and printed
as a script (`shrink.py`).
"""
