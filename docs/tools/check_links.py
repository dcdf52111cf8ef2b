"""Finds links of a built site that lead nowhere: files that are not there, anchors that no page has."""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page refers to, what can be referred to in it, and what it would fetch from elsewhere."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.anchors, self.fetched = [], set(), []
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[name] for name in ('id', 'name') if found.get(name))
        for name in ('href', 'src'):
            if found.get(name):
                self.targets.append(found[name])
                loads = tag in ('script', 'img', 'iframe') or (tag == 'link' and found.get('rel') == 'stylesheet')
                if loads and urlsplit(found[name]).netloc:
                    self.fetched.append(found[name])


def dead_links(site):
    """Texts that say which page links to what is not there, or loads something from another host."""
    parsed = {path.resolve(): Page(path) for path in sorted(Path(site).rglob('*.html'))}
    dead = []
    for path, page in parsed.items():
        here = path.relative_to(Path(site).resolve())
        dead += [f'{here}: loads {address}' for address in page.fetched]
        for target in dict.fromkeys(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or (not parts.path and parts.fragment in ('', 'top')):
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.exists():
                dead.append(f'{here}: {target}')
            elif parts.fragment and file in parsed and unquote(parts.fragment) not in parsed[file].anchors:
                dead.append(f'{here}: {target} (no such anchor)')
    return dead


if __name__ == '__main__':
    found = dead_links(sys.argv[1])
    sys.exit('\n'.join(found))
