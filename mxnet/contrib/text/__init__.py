"""Words as numbers, and numbers as vectors: counting tokens, vocabularies, embeddings from files."""
from ..._names import suggest_names as _suggest_names
from . import embedding, utils, vocab

_suggest_names(globals())
