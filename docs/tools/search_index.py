"""The search index of a built site, and the rules by which texts become terms.

Sphinx's own search does not split Chinese queries into words. Here both pages and queries become terms by the same
rules, in Python for pages and in docs/static/search.js for queries:

- a Latin word becomes its stem in lower case; `load_parameters` and `SoftmaxCELoss` also become their parts
- a run of Chinese characters becomes its pairs of neighbours: 学习率 is 学习 and 习率; a run of one character is a term

Titles, headings and keywords.txt count more than the text, and a mention in a long text counts less than one in a short
text. `docs/<language>/keywords.txt` has words that readers search
for and a page does not use: `page: word, word`. The Chinese site also knows the English keywords.
"""
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from pages import folder, read_table

RUN = re.compile(r'[\u3400-\u9fff]+|[A-Za-z0-9_]+(?:\+\+)?')
PART = re.compile(r'[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+')
ENDINGS = ('ing', 'ed', 'es', 's', 'e')
STOP = set('a an and any are as at be by can do does each for from get how i in is it make me my of on or own should '
           'that the there this to use using want what when where which why will with you'.split())
TITLE, KEYWORD, HEADING, BODY = 16, 16, 6, 1
LENGTH = 6000                   # of a text, in characters, in which a mention counts as one
# reference pages come after guides, and what contributors read comes after what users read
KINDS = {'api/': 0.5, 'operators/': 0.7, 'examples/': 0.6, 'architecture': 0.5, 'development': 0.5, 'differences': 0.7,
         'performance': 0.8}


def stem(word):
    """`training` -> `train`, `models` -> `model`, `save` -> `sav`."""
    word = word.lower()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[:-len(ending)]
    return word


def terms(text):
    """All terms of a text, in order, with repetitions."""
    found = []
    for run in RUN.findall(text):
        if run[0] >= '\u3400':
            found += [run[i:i + 2] for i in range(len(run) - 1)] or [run]
            continue
        parts = PART.findall(run)
        for word in [run, *(parts if len(parts) > 1 else ())]:
            if word.lower() not in STOP and len(word) > 1:
                found.append(stem(word))
    return found


class Article(HTMLParser):
    """Reads the headings, with their anchors, and the text of a page's main part."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections = []                  # [heading, anchor, text]
        self.inside = self.skipped = 0
        self.heading = None
        self.anchor = self.until = ''

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag == 'article':
            self.inside += 1
        if not self.inside:
            return
        if tag == 'section':
            self.anchor = names.get('id', '')
        if tag in ('h1', 'h2', 'h3'):
            self.sections.append(['', self.anchor, ''])
            self.heading = tag
        if tag in ('script', 'style') or names.get('class') == 'notebook-links':
            self.skipped, self.until = 1, tag

    def handle_endtag(self, tag):
        if tag == 'article':
            self.inside -= 1
        if tag == self.heading:
            self.heading = None
        if self.skipped and tag == self.until:
            self.skipped = 0

    def handle_data(self, data):
        if not self.inside or self.skipped or not self.sections or data in ('#', '¶'):
            return
        if self.heading:
            self.sections[-1][0] += data
        else:
            self.sections[-1][2] += data


def keywords(language):
    """{page: text} of keywords.txt."""
    return read_table(folder(language) / 'keywords.txt')


def index(site: Path, language):
    """What search.js reads.

    pages: [address, title, summary, weight, keywords, [[heading, anchor], ...]] of each
    terms: {term: [number of a page, weight of the term in it, ...]}
    """
    extra = keywords('en')
    if language != 'en':
        extra = {name: f'{words}, {extra.get(name, "")}' for name, words in keywords(language).items()}
    pages, weights = [], {}
    for path in sorted(site.rglob('*.html')):
        address = str(path.relative_to(site))
        if address.startswith('_') or address in ('search.html', 'genindex.html', 'index.html'):
            continue
        article = Article()
        article.feed(path.read_text(encoding='utf-8'))
        if not article.sections:
            continue
        title = article.sections[0][0].strip()
        summary = next((text for _, _, text in article.sections if text.strip()), '')
        summary = re.sub(r'\s+', ' ', summary).strip()[:160]
        headings = [[re.sub(r'\s+', ' ', heading).strip(), anchor] for heading, anchor, _ in article.sections[1:]]
        name = address.removesuffix('.html')
        counted = {}
        length = sum(len(text) for _, _, text in article.sections)
        dense = min(1.0, (LENGTH / max(length, 1)) ** 0.5)
        for text, weight in ((title, TITLE), (extra.get(name, ''), KEYWORD),
                             *((heading, HEADING) for heading, _ in headings),
                             *((text, BODY) for _, _, text in article.sections)):
            seen = {}
            for term in terms(text):
                seen[term] = seen.get(term, 0) + 1
            for term, count in seen.items():
                # many mentions in the text count up to as much as two headings
                counted[term] = counted.get(term, 0) + (min(count, 8) * dense if weight == BODY else weight)
        number = len(pages)
        for term, weight in counted.items():
            weights.setdefault(term, []).extend((number, round(weight, 2)))
        pages.append([address, title, summary, KINDS.get(''.join(name.partition('/')[:2]), 1.0),
                      extra.get(name, ''), headings])
    return {'pages': pages, 'terms': weights}


def write(site, language):
    """Writes `_static/search-data.js` of one language's site."""
    text = json.dumps(index(site, language), ensure_ascii=False, separators=(',', ':'))
    (site / '_static' / 'search-data.js').write_text(f'window.searchData = {text};\n', encoding='utf-8')
