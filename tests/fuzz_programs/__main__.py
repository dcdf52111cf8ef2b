"""`python -m tests.fuzz_programs 0:20000 --jobs 2`."""
import sys

from .campaign import main

if __name__ == '__main__':
    sys.exit(main())
