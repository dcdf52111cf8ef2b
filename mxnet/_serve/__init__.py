"""`remx serve`: an HTTP server whose workers, processes of their own, run networks.

The front (`app.py`, `server.py`) receives requests and hands their bytes to a pool (`pool.py`); a worker (`worker.py`)
reads the inputs, computes those that wait together as one batch, and writes the answers.
"""
