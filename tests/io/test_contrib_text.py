"""mx.contrib.text, and a loader as an iterator (mx.contrib.io)."""
import collections
import hashlib
import io
import tarfile
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import text
from mxnet.contrib.text import embedding

Counter = collections.Counter


def written(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('\n'.join(lines) + '\n', encoding='utf8')
    return str(path)


def rows(array):
    return array.asnumpy().tolist()


@pytest.fixture
def words(tmp_path):
    return written(tmp_path / 'words.txt', 'a 1 2', 'b 3 4', 'c 5 6')


# Counting, vocabularies

def test_counting():
    source = 'Xa%bXA%\na%'
    assert text.utils.count_tokens_from_str(source, '%|X') == Counter({'a': 2, 'b': 1, 'A': 1})
    assert text.utils.count_tokens_from_str(source, '%|X', to_lower=True) == Counter({'a': 3, 'b': 1})
    known = Counter(a=5)
    assert text.utils.count_tokens_from_str('a;c', seq_delim=';', counter_to_update=known) is known
    assert known == Counter(a=6, c=1)


@pytest.mark.parametrize('arguments, tokens', [
    ({}, ['<unk>', 'c', 'b', 'a', 'z']),
    ({'most_freq_count': 2}, ['<unk>', 'c', 'b']),
    ({'most_freq_count': 0}, ['<unk>']),
    ({'most_freq_count': 100, 'min_freq': 2}, ['<unk>', 'c', 'b']),
    ({'unknown_token': 'c'}, ['c', 'b', 'a', 'z']),
    ({'reserved_tokens': ['b', '<p>'], 'most_freq_count': 2}, ['<unk>', 'b', '<p>', 'c', 'a']),
    ({'reserved_tokens': []}, ['<unk>', 'c', 'b', 'a', 'z']),
])
def test_vocabularies(arguments, tokens):
    vocabulary = text.vocab.Vocabulary(Counter(a=1, b=2, c=3, z=1), **arguments)
    assert vocabulary.idx_to_token == tokens and len(vocabulary) == len(tokens)
    assert vocabulary.token_to_idx == {token: index for index, token in enumerate(tokens)}
    assert vocabulary.unknown_token == tokens[0]
    assert vocabulary.reserved_tokens == arguments.get('reserved_tokens')


def test_tokens_and_numbers():
    vocabulary = text.vocab.Vocabulary(Counter([(1, 2), (1, 2), (3,)]), unknown_token=())
    assert vocabulary.to_indices((1, 2)) == 1 and vocabulary.to_indices([(3,), (4,)]) == [2, 0]
    assert vocabulary.to_tokens(np.int64(2)) == (3,) and vocabulary.to_tokens([0, 1]) == [(), (1, 2)]
    for wrong in (3, [0, 100], 1.0, 'a'):
        with pytest.raises(ValueError, match='they go from 0 to 2'):
            vocabulary.to_tokens(wrong)
    assert len(text.vocab.Vocabulary()) == 1


@pytest.mark.parametrize('arguments, message', [
    ({'min_freq': 0}, 'min_freq'), ({'most_freq_count': -1}, 'most_freq_count'),
    ({'counter': {'a': 1}}, 'a collections.Counter, not a dict'),
    ({'reserved_tokens': ['<unk>']}, 'more than once'), ({'reserved_tokens': ['a', 'b', 'a']}, r"\['a'\]"),
])
def test_wrong_vocabularies(arguments, message):
    with pytest.raises(AssertionError, match=message):
        text.vocab.Vocabulary(**arguments)


# Vectors from files

def test_a_file_of_vectors(words):
    vectors = embedding.CustomEmbedding(words, init_unknown_vec=mx.nd.ones)
    assert vectors.idx_to_token == ['<unk>', 'a', 'b', 'c'] and vectors.vec_len == 2
    assert vectors.token_to_idx['c'] == 3
    assert rows(vectors.idx_to_vec) == [[1, 1], [1, 2], [3, 4], [5, 6]]
    assert vectors.idx_to_vec.dtype == np.float32
    assert rows(vectors.get_vecs_by_tokens('b')) == [3, 4]
    assert rows(vectors.get_vecs_by_tokens(['B', 'a'])) == [[1, 1], [1, 2]]
    assert rows(vectors.get_vecs_by_tokens(['B', 'Q', 'a'], lower_case_backup=True)) == [[3, 4], [1, 1], [1, 2]]


def test_delimiters_and_encodings(tmp_path):
    path = tmp_path / 'latin.txt'
    path.write_bytes('é;1;2\nnew york;3;4  \n'.encode('latin1'))
    vectors = embedding.CustomEmbedding(str(path), elem_delim=';', encoding='latin1')
    assert vectors.idx_to_token == ['<unk>', 'é', 'new york']
    assert rows(vectors.get_vecs_by_tokens(['é', 'new york'])) == [[1, 2], [3, 4]]


def test_values_are_rounded_once(tmp_path):
    numbers = ['0.1', '-3.14159265358979', '1e-40', '16777217']
    vectors = embedding.CustomEmbedding(written(tmp_path / 'x', 'w ' + ' '.join(numbers)))
    assert vectors.get_vecs_by_tokens('w').asnumpy().tolist() == np.array(numbers, dtype='f8').astype('f4').tolist()


def test_headers_and_repeated_tokens_are_skipped(tmp_path):
    path = written(tmp_path / 'x', '2 3', 'a 1 2 3', 'a 4 5 6', '<unk> 7 8 9', '<unk> 0 0 0')
    with pytest.warns(UserWarning) as told:
        vectors = embedding.CustomEmbedding(path)
    assert [str(w.message).partition('line ')[2][:20] for w in told] == [
        "1: '2 3' has one num", "3: the token 'a' was", "5: the token '<unk>'"]
    assert rows(vectors.idx_to_vec) == [[7, 8, 9], [1, 2, 3]]


def test_reserved_tokens_keep_their_rows(tmp_path):
    path = written(tmp_path / 'x', 'a 1 2', '<pad> 9 9', '<unk> 5 5')
    vectors = embedding.CustomEmbedding(path, reserved_tokens=['<pad>', '<eos>'])
    assert vectors.idx_to_token == ['<unk>', '<pad>', '<eos>', 'a']
    assert rows(vectors.idx_to_vec) == [[5, 5], [9, 9], [5, 5], [1, 2]]
    only = embedding.CustomEmbedding(written(tmp_path / 'y', '<unk> 5 5'))
    assert rows(only.idx_to_vec) == [[5, 5]]


@pytest.mark.parametrize('lines, error, message', [
    (['a 1 2', 'b'], AssertionError, "line 2: 'b' is not a token and numbers"),
    (['a 1 2', ''], AssertionError, 'line 2'),
    (['a 1 2', 'b 1 2 3'], AssertionError, "line 2: the vector of 'b' has 3 numbers, those before it have 2"),
    (['a 1 2', 'b 1 x'], ValueError, "line 2: the vector of 'b' is not made of numbers: 'x' is not a number"),
    ([''], AssertionError, 'line 1'),
])
def test_damaged_files(tmp_path, lines, error, message):
    with pytest.raises(error, match=message):
        embedding.CustomEmbedding(written(tmp_path / 'x', *lines))


def test_absent_and_empty_files(tmp_path):
    with pytest.raises(ValueError, match='there is no file of vectors .*nowhere'):
        embedding.CustomEmbedding(str(tmp_path / 'nowhere'))
    (tmp_path / 'latin').write_bytes('ä 1 2'.encode('latin-1'))
    with pytest.raises(ValueError, match='latin is not text in utf8'):
        embedding.CustomEmbedding(str(tmp_path / 'latin'))
    (tmp_path / 'empty').touch()
    with pytest.raises(ValueError, match='there are no vectors in'):
        embedding.CustomEmbedding(str(tmp_path / 'empty'))


def test_a_vocabulary_chooses(words):
    vocabulary = text.vocab.Vocabulary(Counter('b c c q'.split()), unknown_token='?', reserved_tokens=['<pad>'])
    vectors = embedding.CustomEmbedding(words, init_unknown_vec=mx.nd.ones, vocabulary=vocabulary)
    assert vectors.idx_to_token == ['?', '<pad>', 'c', 'b', 'q'] and vectors.unknown_token == '?'
    assert vectors.reserved_tokens == ['<pad>'] and vectors.reserved_tokens is not vocabulary.reserved_tokens
    assert rows(vectors.idx_to_vec) == [[1, 1], [1, 1], [5, 6], [3, 4], [1, 1]]
    bare = embedding.CustomEmbedding(words, vocabulary=text.vocab.Vocabulary())
    assert rows(bare.idx_to_vec) == [[0, 0]] and bare.reserved_tokens is None
    with pytest.raises(AssertionError, match='vocabulary of CustomEmbedding must be'):
        embedding.CustomEmbedding(words, vocabulary=['a'])


def test_vectors_side_by_side(words, tmp_path):
    first = embedding.CustomEmbedding(words, init_unknown_vec=mx.nd.ones)
    second = embedding.CustomEmbedding(written(tmp_path / 'x', 'c 7 8 9', '<unk> 2 2 2'))
    vocabulary = text.vocab.Vocabulary(Counter('a c c'.split()))
    both = embedding.CompositeEmbedding(vocabulary, [first, second])
    assert both.vec_len == 5 and len(both) == 3
    assert rows(both.idx_to_vec) == [[1, 1, 2, 2, 2], [5, 6, 7, 8, 9], [1, 2, 2, 2, 2]]
    assert rows(embedding.CompositeEmbedding(vocabulary, second).idx_to_vec) == [[2, 2, 2], [7, 8, 9], [2, 2, 2]]
    with pytest.raises(AssertionError, match='there is a str'):
        embedding.CompositeEmbedding(vocabulary, [first, 'second'])
    with pytest.raises(AssertionError, match='vocabulary of CompositeEmbedding'):
        embedding.CompositeEmbedding(Counter(), first)


def test_changing_vectors(words):
    vectors = embedding.CustomEmbedding(words)
    vectors.update_token_vectors('a', mx.nd.array([7, 7]))
    vectors.update_token_vectors(['b'], mx.nd.array([[8, 8]]))
    vectors.update_token_vectors(['c', '<unk>'], mx.nd.array([[9, 9], [10, 10]]))
    assert rows(vectors.idx_to_vec) == [[10, 10], [7, 7], [8, 8], [9, 9]]
    with pytest.raises(ValueError, match=r"\['q'\] are not in this embedding.*name '<unk>'"):
        vectors.update_token_vectors(['a', 'q'], mx.nd.ones((2, 2)))
    for tokens, new in (('a', mx.nd.ones((3,))), ('a', mx.nd.ones((2, 2))), (['a', 'b'], mx.nd.ones((2,))),
                        ('a', mx.nd.ones((1, 1, 2)))):
        with pytest.raises(AssertionError, match='must have the shape'):
            vectors.update_token_vectors(tokens, new)
    with pytest.raises(AssertionError, match='must be an NDArray, not a list'):
        vectors.update_token_vectors('a', [1, 1])
    with pytest.raises(AssertionError, match='has no vectors yet'):
        embedding._TokenEmbedding().update_token_vectors('a', mx.nd.ones((2,)))


def test_in_np_mode(words):
    with mx.util.np_array(True), mx.util.np_shape(True):
        vectors = embedding.CustomEmbedding(words, init_unknown_vec=mx.np.ones)
        assert isinstance(vectors.idx_to_vec, mx.np.ndarray)
        assert isinstance(vectors.get_vecs_by_tokens('a'), mx.np.ndarray)
        vectors.update_token_vectors('a', mx.np.array([7, 7], dtype='float32'))
        both = embedding.CompositeEmbedding(text.vocab.Vocabulary(Counter('a')), [vectors, vectors])
        assert isinstance(both.idx_to_vec, mx.np.ndarray)
        assert rows(both.idx_to_vec) == [[1, 1, 1, 1], [7, 7, 7, 7]]


# Published files

def sha1(content):
    return hashlib.sha1(content).hexdigest()


CONTENT = b'a 1 2\nb 3 4\n'


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w') as packed:
        for name, content in files.items():
            packed.writestr(name.replace('__', '/'), content)
    return buffer.getvalue()


def tarred(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w:gz') as packed:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        packed.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Puts files on a server, which is a folder here; no attempt to reach it waits."""
    folder = tmp_path / 'server'
    monkeypatch.setenv('MXNET_GLUON_REPO', folder.as_uri())
    monkeypatch.setattr('mxnet.gluon.utils.time.sleep', lambda seconds: None)

    def put(path, content):
        path = folder / 'gluon' / 'embeddings' / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path
    return put


def test_names_of_published_files():
    names = embedding.get_pretrained_file_names()
    assert len(names['glove']) == 10 and len(names['fasttext']) == 327
    assert embedding.get_pretrained_file_names('GloVe') == names['glove']
    with pytest.raises(KeyError, match="no token embedding 'none'; there are .*fasttext.*glove"):
        embedding.get_pretrained_file_names('none')
    for cls in (embedding.GloVe, embedding.FastText):
        archives = {cls._get_download_file_name(name) for name in cls.pretrained_file_name_sha1}
        assert archives == set(cls.pretrained_archive_name_sha1)
        sums = [*cls.pretrained_file_name_sha1.values(), *cls.pretrained_archive_name_sha1.values()]
        assert all(len(value) == 40 and int(value, 16) for value in sums)
    assert embedding.GloVe._get_download_file_name('glove.twitter.27B.50d.txt') == 'glove.twitter.27B.zip'
    for name, cls in (('glove', embedding.GloVe), ('FastText', embedding.FastText)):
        with pytest.raises(KeyError, match=f'not a published file of {cls.__name__}; there are '):
            embedding.create(name, pretrained_file_name='mine.txt')


@pytest.mark.parametrize('cls, file, archive', [(embedding.GloVe, 'glove.6B.50d.txt', 'glove.6B.zip'),
                                                (embedding.FastText, 'wiki.simple.vec', 'wiki.simple.zip')])
def test_archives_are_downloaded_once(server, tmp_path, monkeypatch, cls, file, archive):
    content = zipped(**{f'sub__{file}': CONTENT, 'other': b'x'})
    monkeypatch.setattr(cls, 'pretrained_archive_name_sha1', {archive: sha1(content)})
    monkeypatch.setattr(cls, 'pretrained_file_name_sha1', {file: sha1(CONTENT)})
    source = server(f'{cls.__name__.lower()}/{archive}', content)
    arguments = {'pretrained_file_name': file, 'embedding_root': str(tmp_path / 'here')}
    made = embedding.create(cls.__name__, **arguments)
    assert type(made) is cls and rows(made.idx_to_vec) == [[0, 0], [1, 2], [3, 4]]
    source.unlink()
    folder = tmp_path / 'here' / cls.__name__.lower()
    assert sorted(p.name for p in folder.iterdir()) == sorted([archive, file])
    vocabulary = text.vocab.Vocabulary(Counter('b'))
    assert rows(cls(vocabulary=vocabulary, init_unknown_vec=mx.nd.ones, **arguments).idx_to_vec) == [[1, 1], [3, 4]]
    (folder / file).unlink()                    # the archive alone will do
    assert len(cls(**arguments)) == 3
    (folder / file).write_bytes(b'a 5 5\n')
    with pytest.raises(mx.base.MXNetError, match='is not the file that was published.*CustomEmbedding'):
        cls(**arguments)


def test_absent_files_are_named_with_their_folder(server, tmp_path):
    root = tmp_path / 'here'
    with pytest.raises(mx.base.MXNetError) as told:
        embedding.create('glove', pretrained_file_name='glove.6B.50d.txt', embedding_root=str(root))
    message = str(told.value)
    for part in ('GloVe needs glove.6B.50d.txt', embedding.GloVe.pretrained_file_name_sha1['glove.6B.50d.txt'],
                 str(root / 'glove'), 'or glove.6B.zip (SHA-1 b64e54f1'):
        assert part in message
    assert not [p for p in root.rglob('*') if p.is_file()]


def test_an_archive_without_the_file(server, tmp_path, monkeypatch):
    content = zipped(other=CONTENT)
    monkeypatch.setattr(embedding.GloVe, 'pretrained_archive_name_sha1', {'glove.6B.zip': sha1(content)})
    server('glove/glove.6B.zip', content)
    with pytest.raises(mx.base.MXNetError, match='GloVe needs glove.6B.50d.txt'):
        embedding.GloVe('glove.6B.50d.txt', embedding_root=str(tmp_path / 'here'))


@pytest.mark.parametrize('packed', [False, True])
def test_an_embedding_of_ones_own(server, tmp_path, packed):
    archive = tarred('deep/my.vec', CONTENT)

    @embedding.register
    class Mine(embedding._TokenEmbedding):
        pretrained_file_name_sha1 = {'my.vec': sha1(CONTENT)}
        if packed:
            pretrained_archive_name_sha1 = {'my.tar.gz': sha1(archive)}

            @classmethod
            def _get_download_file_name(cls, pretrained_file_name):
                return 'my.tar.gz'

        def __init__(self, root, **kwargs):
            super().__init__(**kwargs)
            self._check_pretrained_file_names('my.vec')
            self._load_embedding(self._get_pretrained_file(root, 'my.vec'), ' ', mx.nd.zeros)

    try:
        assert embedding.get_pretrained_file_names('mine') == ['my.vec']
        with pytest.raises(mx.base.MXNetError, match='Mine needs my.vec'):
            embedding.create('mine', root=str(tmp_path / 'here'))
        server('mine/my.tar.gz' if packed else 'mine/my.vec', archive if packed else CONTENT)
        made = embedding.create('mine', root=str(tmp_path / 'here'), unknown_token='?')
        assert made.idx_to_token == ['?', 'a', 'b']
    finally:
        mx.registry._registries[embedding._TokenEmbedding].pop('mine')


# A loader as an iterator

def pairs(count):
    data = mx.nd.arange(count * 3, dtype='int32').reshape((count, 3))
    return mx.gluon.data.ArrayDataset(data, mx.nd.arange(count))


@pytest.mark.parametrize('last_batch, sizes', [('keep', [4, 4, 2]), ('discard', [4, 4])])
@pytest.mark.parametrize('dtype', ['float32', 'float16'])
def test_a_loader_as_an_iterator(last_batch, sizes, dtype):
    loader = mx.gluon.data.DataLoader(pairs(10), batch_size=4, last_batch=last_batch)
    iterator = mx.contrib.io.DataLoaderIter(loader, data_name='x', label_name='y', dtype=dtype)
    assert [(d.name, d.shape, np.dtype(d.dtype)) for d in (*iterator.provide_data, *iterator.provide_label)] == [
        ('x', (4, 3), np.dtype(dtype)), ('y', (4,), np.dtype(dtype))]
    for _ in range(2):
        batches = list(iterator)
        assert [4 - batch.pad for batch in batches] == sizes
        assert all(batch.index is None for batch in batches)
        labels = np.concatenate([batch.label[0].asnumpy() for batch in batches])
        assert labels.tolist() == [*range(sum(sizes)), *[0] * (-sum(sizes) % 4)]
        assert {(batch.data[0].shape, batch.data[0].dtype) for batch in batches} == {((4, 3), np.dtype(dtype).type)}
        assert batches[-1].data[0].asnumpy()[4 - batches[-1].pad:].tolist() == [[0, 0, 0]] * batches[-1].pad
        with pytest.raises(StopIteration):
            next(iterator)
        iterator.reset()


def test_a_loader_for_a_module():
    loader = mx.gluon.data.DataLoader(pairs(10), batch_size=4)
    iterator = mx.contrib.io.DataLoaderIter(loader)
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10), name='softmax')
    module = mx.mod.Module(out, context=mx.cpu())
    module.bind(iterator.provide_data, iterator.provide_label)
    module.init_params()
    assert module.predict(iterator).shape == (10, 10)           # the filler is left out


def test_a_loader_without_batches():
    empty = mx.gluon.data.DataLoader(pairs(3), batch_size=4, last_batch='discard')
    with pytest.raises(ValueError, match='has no batch'):
        mx.contrib.io.DataLoaderIter(empty)
