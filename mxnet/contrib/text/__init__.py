"""Words as numbers, and numbers as vectors: counting tokens, vocabularies, embeddings from files."""
from . import embedding, utils, vocab
