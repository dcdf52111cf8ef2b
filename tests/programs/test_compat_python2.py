"""`remx run`: what programs in Python 2 did with texts and bytes, orders, classes and modules."""
import pytest
from test_compat_packages import run

# each function returns False, or raises, where something is not as in Python 2
PROGRAM = r'''
# -*- coding: utf-8 -*-
import sys
print "start"
for name in ('cPickle cStringIO StringIO urllib2 urlparse Queue ConfigParser commands HTMLParser httplib Cookie '
             'cookielib thread dummy_threading exceptions sets md5 sha copy_reg SocketServer BaseHTTPServer '
             'SimpleHTTPServer CGIHTTPServer xmlrpclib SimpleXMLRPCServer htmlentitydefs anydbm dbhash whichdb '
             'dumbdbm UserDict UserList UserString new user popen2 robotparser future_builtins imp '
             'distutils.version pkg_resources ').split():
    try:
        exec 'import ' + name
    except ImportError, error:
        print error


def T(function):
    try:
        if function() is False:
            print 'WRONG', function.__name__
    except Exception, error:
        print 'BAD', function.__name__, type(error).__name__, error


@T
def urllibs():
    import urllib, urllib2, urlparse
    return (urllib.quote('a b') == 'a%20b' and urllib2.quote('a b') == 'a%20b'
            and urllib.urlencode({'a': 1}) == 'a=1' and urllib.unquote('a%20b') == 'a b'
            and urlparse.urlparse('http://a/b').netloc == 'a' and urllib.pathname2url('a b')
            and urllib2.Request('http://a') and urllib2.build_opener() and urllib2.HTTPError)
@T
def userdict():
    import UserDict
    class A(UserDict.UserDict): pass
    class B(UserDict.DictMixin):
        def __getitem__(self, k): return 1
        def keys(self): return ['a']
    return A({'a': 1})['a'] == 1 and B().items() == [('a', 1)] and B().has_key('a')
@T
def executed_texts():
    whole, found = 9, {}
    exec "half = 7 / 2; print_ = lambda: 3L / 2" in found
    exec 'assert 0777 / 2 == 255'
    try:
        eval('1 +')
    except SyntaxError, error:
        return (eval('whole / 2') == 4 and eval(u' [x / 2 for q in [0]]', {'x': 5}) == [2] and eval('5L <> 3') is True
                and found['half'] == 3 and found['print_']() == 1 and eval(compile('1 + 1', 'a', 'eval')) == 2
                and eval('max(None, n)', {}, {'n': 3}) == 3 and eval("""[1,
    2]""") == [1, 2])
@T
def texts_as_buffers():
    import numpy
    return (str(buffer('abc', 1)) == 'bc' and bytearray('a\xff')[1] == 255 and len(bytearray(3)) == 3
            and numpy.frombuffer('\x01\xff', 'uint8').tolist() == [1, 255])
@T
def lines_of_files():
    open('lines', 'w').write('a\nb\n')
    return [line.strip() for line in open('lines').xreadlines()] == ['a', 'b']
@T
def iterdict():
    class D(UserDict.IterableUserDict): pass
    return D()
@T
def strings():
    import string
    return (string.join(['a', 'b'], '-') == 'a-b' and string.letters and string.upper('a') == 'A'
            and string.atoi('3') == 3 and 'abc'.translate(None, 'b') == 'ac')
@T
def strtrans():
    import string
    return 'abc'.translate(string.maketrans('ab', 'xy')) == 'xyc'
@T
def encode_hex(): return 'ab'.encode('hex') == '6162'
@T
def decode_hex(): return '6162'.decode('hex') == 'ab'
@T
def b64(): return 'ab'.encode('base64').strip() == 'YWI='
@T
def b64mod():
    import base64
    return base64.b64encode('ab') == 'YWI=' and base64.b64decode('YWI=') == 'ab' and base64.encodestring('ab')
@T
def hashlibs():
    import hashlib, md5
    return hashlib.md5('ab').hexdigest() == md5.new('ab').hexdigest() and hashlib.sha1('a').hexdigest()
@T
def hmacs():
    import hmac, hashlib
    return hmac.new('k', 'm', hashlib.md5).hexdigest()
@T
def zlibs():
    import zlib
    return zlib.decompress(zlib.compress('abc')) in ('abc', b'abc') and zlib.crc32('abc')
@T
def structs():
    import struct
    return struct.unpack('I', struct.pack('I', 3))[0] == 3 and struct.pack('4s', 'abcd') in ('abcd', b'abcd')
@T
def struct_str():
    import struct
    data = struct.pack('<I', 5) + 'xy'
    return len(data) == 6
@T
def readbin():
    open('b.bin', 'wb').write('abc\x00\xff')
    d = open('b.bin', 'rb').read()
    return d[0] == 'a' and ord(d[4]) == 255 and d.startswith('abc') and len(d) == 5
@T
def readlines_text():
    open('t.txt', 'wb').write('a b\nc d\n')
    return [l.strip().split(' ') for l in open('t.txt', 'rb')] == [['a', 'b'], ['c', 'd']]
@T
def readtext():
    return [l.strip() for l in open('t.txt').readlines()] == ['a b', 'c d']
@T
def csvs():
    import csv
    w = csv.writer(open('c.csv', 'wb')); w.writerow([1, 'a']); del w
    return list(csv.reader(open('c.csv', 'rb'))) == [['1', 'a']]
@T
def pickles():
    import cPickle
    f = open('p.pkl', 'w'); cPickle.dump({'a': [1]}, f); f.close()
    return (cPickle.load(open('p.pkl')) == {'a': [1]} and cPickle.loads(cPickle.dumps([1], -1)) == [1]
            and cPickle.loads(cPickle.dumps([1])) == [1])
@T
def pickle_protocol():
    import cPickle as pickle
    s = pickle.dumps({'a': 1}, protocol=2); f = open('q.pkl', 'wb'); f.write(s); f.close()
    return pickle.load(file('q.pkl', 'rb')) == {'a': 1} and pickle.HIGHEST_PROTOCOL >= 2
@T
def gz():
    import gzip
    f = gzip.open('g.gz', 'wb'); f.write('abc\n'); f.close()
    return gzip.open('g.gz', 'rb').read() in ('abc\n',)
@T
def gzlines():
    import gzip
    return [l.split() for l in gzip.open('g.gz')] == [['abc']]
@T
def popen():
    import subprocess
    out = subprocess.Popen(['echo', 'a b'], stdout=subprocess.PIPE).communicate()[0]
    return out.split() == ['a', 'b'] and subprocess.check_output('echo hi', shell=True).strip() == 'hi'
@T
def os_popen():
    import os
    return os.popen('echo a').read() == 'a\n' and os.getcwdu()
@T
def sortcmp():
    l = [3, 1, 2]
    l.sort(lambda a, b: cmp(b, a))
    return l == [3, 2, 1] and sorted(l, cmp=lambda a, b: a - b) == [1, 2, 3]
@T
def mixed_sort(): return sorted([3, 'a', None, 1.5]) == [None, 1.5, 3, 'a']
@T
def mixed_cmp(): return (None < 3) and ('a' > 3) and (max([None, 2]) == 2)
@T
def dicts():
    d = {'b': 1, 'a': 2}
    k = d.keys(); k.sort()
    return k == ['a', 'b'] and d.items()[0] and d.values()[0] and d.has_key('a') and d.iteritems().next()
@T
def dict_del():
    d = {'a': 1, 'b': 2}
    for k in d.keys():
        del d[k]
    return d == {}
@T
def maps():
    return (map(lambda x: x + 1, [1, 2]) == [2, 3] and map(None, [1, 2], [3]) == [(1, 3), (2, None)]
            and filter(None, [0, 1]) == [1] and zip([1], [2]) == [(1, 2)] and range(3) == [0, 1, 2]
            and reduce(lambda a, b: a + b, [1, 2]) == 3)
@T
def range_add(): return range(2) + range(2) == [0, 1, 0, 1]
@T
def ints():
    return (7 / 2 == 3 and -7 / 2 == -4 and 7 / 2. == 3.5 and 3L == 3 and 0777 == 511 and int('7' * 20)
            and long('3') == 3 and isinstance(3, (int, long)) and sys.maxint > 0)
@T
def division_aug():
    a = 7; a /= 2; return a == 3
@T
def rounds(): return round(2.5) == 3.0 and round(1.25, 1) == 1.3 and isinstance(round(2.5), float)
@T
def unicodes():
    u = u'\u4e2d'; s = '中'
    return (isinstance(u, unicode) and isinstance(s, basestring) and unicode('abc') == u'abc'
            and unicode(s, 'utf-8') == u and u.encode('utf-8') and s.decode('utf-8') == u
            and str('a') == 'a' and unichr(65) == 'A')
@T
def enc_dec(): return u'中'.encode('utf-8').decode('utf-8') == u'中' and u'中'.encode('gbk')
@T
def setdefaultencoding():
    reload(sys); sys.setdefaultencoding('utf-8')
@T
def execs():
    ns = {}; exec 'a = 3' in ns; exec "b = 4"; return ns['a'] == 3
@T
def raises():
    try: raise ValueError, 'abc'
    except ValueError, e: return e.message == 'abc' and str(e) == 'abc' and e[0] == 'abc'
@T
def raise_tb():
    try:
        try: 1 / 0
        except ZeroDivisionError: raise RuntimeError, 'x', sys.exc_info()[2]
    except RuntimeError: return True
@T
def tuple_lambda(): return (lambda (a, b): a + b)((1, 2)) == 3
@T
def printing():
    print >>sys.stderr, 'x',
    print 'a', 'b',
    print
    print('a %d' % 3), 'tail'
    print
    print ('t', 1)
@T
def iters():
    class It:
        def __init__(self): self.i = 0
        def __iter__(self): return self
        def next(self):
            self.i += 1
            if self.i > 2: raise StopIteration
            return self.i
    return [x for x in It()] == [1, 2] and list(It()) == [1, 2] and sum(It()) == 3
@T
def gen_next():
    g = (x for x in [1]); return g.next() == 1
@T
def nonzero():
    class A(object):
        def __nonzero__(self): return False
    return not A()
@T
def divs():
    class A(object):
        def __div__(self, o): return 'div'
        def __cmp__(self, o): return 0
        def __getslice__(self, a, b): return (a, b)
        def __unicode__(self): return u'u'
        def __long__(self): return 3
        def __coerce__(self, o): return None
    a = A(); return a / 3 == 'div'
@T
def cmps():
    class A(object):
        def __init__(self, v): self.v = v
        def __cmp__(self, o): return cmp(self.v, o.v)
    return A(1) < A(2) and A(1) == A(1) and sorted([A(2), A(1)])[0].v == 1
@T
def getslice():
    class A(object):
        def __getslice__(self, a, b): return (a, b)
        def __getitem__(self, i): return 'item'
    return A()[1:3] == (1, 3)
@T
def eqhash():
    class A(object):
        def __eq__(self, o): return True
    return {A(): 1}
@T
def metacls():
    class M(type):
        def __new__(c, n, b, d): d['x'] = 1; return type.__new__(c, n, b, d)
    class A:
        __metaclass__ = M
    return A.x == 1
@T
def file_obj(): return isinstance(open('t.txt'), file)
@T
def types_():
    import types
    return isinstance('a', types.StringTypes) and isinstance([], types.ListType) and types.StringType is str
@T
def itertools_():
    import itertools
    return (list(itertools.izip([1], [2])) == [(1, 2)] and list(itertools.imap(lambda x: x, [1])) == [1]
            and list(itertools.ifilter(None, [1])) == [1])
@T
def ops():
    import operator
    return (operator.isSequenceType([]) and operator.div(7, 2) == 3 and operator.isMappingType({})
            and operator.isNumberType(3))
@T
def threads():
    import thread, threading
    thread.start_new_thread(lambda: None, ()); return threading._sleep or True
@T
def inputs():
    from StringIO import StringIO
    s = StringIO(); s.write('a'); s.write(u'b'); print >>s, 'c'; return s.getvalue() == 'abc\n'
@T
def cstringio():
    import cStringIO
    s = cStringIO.StringIO('a\nb')
    return s.readline() == 'a\n' and cStringIO.StringIO(open('b.bin', 'rb').read()).read(1) == 'a'
@T
def jsons():
    import json
    return json.loads('{"a": 1}', encoding='utf-8') and json.dumps({'a': '中'}, ensure_ascii=False)
@T
def json_bytes():
    import json
    json.dump({'a': 1}, open('j.json', 'wb')); return json.load(open('j.json', 'rb')) == {'a': 1}
@T
def np_bits():
    import numpy as np
    a = np.fromstring('\x01\x02', dtype=np.uint8)
    return (a.tolist() == [1, 2] and a.tostring() in ('\x01\x02', b'\x01\x02')
            and np.zeros(7 / 2).shape == (3,))
@T
def np_str():
    import numpy as np
    a = np.array(['ab', 'c'])
    return a[0] == 'ab' and a.dtype.kind in 'SU' and np.array(['1', '2']).astype(float).sum() == 3
@T
def time_():
    import time; return time.clock() >= 0
@T
def random_():
    import random
    random.jumpahead(3) if hasattr(random, 'jumpahead') else 0
    return (random.sample({1, 2, 3}, 2) and random.sample(xrange(9), 2)
            and random.shuffle([1, 2], random.random) is None)
@T
def random_choice_dict():
    import random; return random.choice({'a': 1}.keys()) == 'a' and random.sample({'a': 1}, 1) == ['a']
@T
def collections_():
    import collections
    return (collections.Callable and collections.OrderedDict().keys() == []
            and collections.Counter('aab').most_common(1)[0][0] == 'a')
@T
def counter_keys():
    from collections import defaultdict, OrderedDict
    d = defaultdict(int)
    d['a'] += 1
    return d.items()[0] == ('a', 1) and d.keys()[0] == 'a' and sorted(d.iteritems())
@T
def threadq():
    import Queue; q = Queue.Queue(); q.put(1); return q.get() == 1 and Queue.Empty
@T
def inspect_():
    import inspect; return inspect.getargspec(lambda a, b=1: 0).args == ['a', 'b']
@T
def xml_():
    import xml.etree.cElementTree as ET
    return (ET.fromstring('<a><b/></a>').getchildren()[0].tag == 'b'
            and list(ET.fromstring('<a/>').getiterator()))
@T
def intern_():
    return (intern('a') == 'a' and apply(max, (1, 2)) == 2 and coerce(1, 2.0) == (1.0, 2.0)
            and buffer('abc') is not None)
@T
def str_methods():
    return ('abc'.isalpha() and 'a'.__add__('b') == 'ab' and str.decode('a') == 'a'
            and 'a,b'.split(',')[1] == 'b')
@T
def bytes_fmt(): return '%s' % open('b.bin', 'rb').read(1) == 'a'
@T
def join_bytes(): return ''.join([open('b.bin', 'rb').read(1), 'z']) == 'az'
@T
def nested_tuple_args():
    def f(a, (b, c), d=1): return a + b + c + d
    return f(1, (2, 3)) == 7
@T
def octal_str(): return '\377'
@T
def argparse_():
    import argparse
    p = argparse.ArgumentParser(version='1') if False else argparse.ArgumentParser()
    p.add_argument('--a', type=long)
    return p.parse_args(['--a', '3']).a == 3

@T
def errors_in_one_line():
    try: open('no such file')
    except IOError, (number, text): return number == 2
@T
def raw_unicode(): return ur'a\d' == u'a\\d'
@T
def walk():
    import os
    found = []
    os.path.walk('.', lambda argument, folder, files: argument.extend(files), found)
    return 'main.py' in found
@T
def hasattr_():
    class A(object):
        @property
        def size(self): return len(None)
    return hasattr('a', 'upper') and not hasattr(A(), 'size') and not hasattr(A(), 'nothing')
@T
def mistakes():
    for wrong in (lambda: [] < object(), lambda: 'a' + 1, lambda: object() > 3):
        try: wrong()
        except TypeError: continue
        return False
'''


def test_everything_is_as_in_python_2(tmp_path):
    pytest.importorskip('fissix')
    out, _ = run(tmp_path, {'main.py': PROGRAM.lstrip()})
    assert [line.rstrip() for line in out.splitlines()] == ['start', 'a b', 'a 3 tail', '', "('t', 1)"]


def test_a_class_without_bases_whose_new_is_not_called(tmp_path):
    """Nothing else in the file is Python 2."""
    out, _ = run(tmp_path, {'main.py': """
        class Single:
            def __init__(self, decorated):
                self.decorated = decorated
            def __new__(kind, *args, **kwargs):
                kind.instances[kind] = super(Single, kind).__new__(kind, *args, **kwargs)
                return kind.instances[kind]

        @Single
        class Words:
            pass
        print(Words.decorated.__name__)
        """})
    assert out == 'Words\n'


def test_true_division_of_executed_texts(tmp_path):
    out, _ = run(tmp_path, {'main.py': """
        from __future__ import division
        n = xrange(8)[7]
        exec("half = n / 2")
        print(half, eval('n / 2'))
        """})
    assert out == '3.5 3.5\n'


def test_bytes_of_binary_files(tmp_path):
    """They are `bytes` for other libraries, and equal to texts for the program."""
    pytest.importorskip('fissix')
    out, _ = run(tmp_path, {'main.py': '''
        import gzip, pickle, struct, zlib, numpy as np
        data = struct.pack('>4i', 2051, 2, 3, 3) + '\\x00\\xff' + chr(7) * 16
        open('images', 'wb').write(data)
        with open('images', 'rb') as images:
            print struct.unpack('>4i', images.read(16)), np.fromstring(images.read(), np.uint8).tolist()[:3]
        with gzip.open('words.gz', 'wb') as packed:
            packed.write('first line\\nsecond line\\n')
        print [line.split() for line in gzip.open('words.gz')], gzip.open('words.gz').read().split('\\n')[1]
        pickle.dump({'a': np.arange(2)}, open('numbers', 'wb'), 0)
        print pickle.load(open('numbers', 'rb'))['a'], isinstance(open('images', 'rb').read(1), bytes)
        np.save(open('array.npy', 'wb'), np.arange(3))
        print np.load(open('array.npy', 'rb')), {'abc': 1}[open('words', 'w+b').name and 'abc'], 'a' in data, len(data)
        open('plain', 'wb').write(u'caf\\u00e9 z'.encode('utf-8'))
        text = open('plain', 'rb').read()
        print text.decode('utf-8') == u'caf\\u00e9 z', text[-1] == 'z', '-'.join([text[0], 'b']), '%s' % text[:3]
        '''})
    assert out.splitlines() == [
        '(2051, 2, 3, 3) [0, 255, 7]', "[['first', 'line'], ['second', 'line']] second line", '[0 1] True',
        '[0 1 2] 1 False 34', 'True True c-b caf']
