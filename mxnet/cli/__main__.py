"""`python -m mxnet.cli`, for machines where the package is on PYTHONPATH but not installed."""
import sys

from . import main

sys.exit(main())
