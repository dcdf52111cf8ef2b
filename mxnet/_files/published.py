"""Data sets that are published as files: their names, sums and servers, for all that read or fetch them."""
import os

from ..base import data_dir

_IDX = ('train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz', 't10k-images-idx3-ubyte.gz',
        't10k-labels-idx1-ubyte.gz')
# name -> ({file: its SHA-1}, servers beside upstream's own)
DATASETS = {
    'mnist': (dict(zip(_IDX, ('6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d', '2a80914081dc54586dbdf242f9805a6b8d2a15fc',
                              'c3a25af1f52dad7f726cce8cacb138654b760d48', '763e7fa3757d93b0cdec073cef058b2004252c17'))),
              ('https://ossci-datasets.s3.amazonaws.com/mnist/', 'https://storage.googleapis.com/cvdf-datasets/mnist/')),
    'fashion-mnist': (dict(zip(_IDX, ('0cf37b0d40ed5169c6b3aba31069a9770ac9043d',
                                      '236021d52f1e40852b06a4c3008d8de8aef1e40b',
                                      '626ed6a7c06dd17c0eec72fa3be1740f146a2863',
                                      '17f9ab60e7257a1620f4ad76bbbaf857c3920701'))),
                      ('http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/',)),
    'cifar10': ({'cifar-10-binary.tar.gz': 'fab780a1e191a7eda0f345501ccd62d20f7ed891'},
                ('https://www.cs.toronto.edu/~kriz/',)),
    'cifar100': ({'cifar-100-binary.tar.gz': 'a0bb982c76b83111308126cc779a992fa506b90b'},
                 ('https://www.cs.toronto.edu/~kriz/',)),
    'wikitext-2': ({'wikitext-2-v1.zip': '3c914d17d80b1459be871a5039ac23e752a53cbe'}, ()),
    'wikitext-103': ({'wikitext-103-v1.zip': '0aec09a7537b58d4bb65362fee27650eeaba625a'}, ()),
}
REPOSITORY = 'https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/dataset/'


def files(name, *chosen):
    """((file, SHA-1), ...) of a data set: all of them, or those whose names begin so."""
    return tuple(item for item in DATASETS[name][0].items() if not chosen or item[0].startswith(chosen))


def folder(name):
    """Where `remx fetch` puts a data set and `gluon.data.vision` reads it."""
    return os.path.join(data_dir(), 'datasets', name)


def local(name, file):
    """The path of a file that `remx fetch` has brought; None where it is not there."""
    path = os.path.join(folder(name), file)
    return path if os.path.exists(path) else None


def hint(name, where=None):
    """The sentence of an error that tells how a data set can be had."""
    return f'`remx fetch {name}{"" if where is None else f" --to {where}"}` downloads it.'
