"""`python .../mxnet/tools/im2rec.py ...`: scripts start it by this path.  It is `remx im2rec`."""
import sys

from mxnet.cli import main

if __name__ == '__main__':
    sys.exit(main(['im2rec', *sys.argv[1:]]))
