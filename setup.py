"""The long description of the package: README.md with absolute links, which package indexes need.

Everything else is in pyproject.toml.
"""
import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
HOME = tomllib.loads((HERE / 'pyproject.toml').read_text(encoding='utf-8'))['project']['urls']['Repository']


def absolute(text):
    """Links to files of the repository as links to its public home."""
    def link(found):
        mark, words, target = found.groups()
        if re.match(r'[a-z]+:|#', target):
            return found[0]
        kind = 'raw' if mark == '!' else 'blob'
        return f'{mark}[{words}]({HOME}/{kind}/main/{target})'
    return re.sub(r'(!?)\[([^\]]*)\]\(([^)\s]+)\)', link, text)


setup(long_description=absolute((HERE / 'README.md').read_text(encoding='utf-8')),
      long_description_content_type='text/markdown')
