"""Sphinx's settings for both languages; docs/tools/build.py gives `-D language=` and the language as a tag."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mxnet.libinfo import remx_version

chinese = tags.has('zh')  # type: ignore[attr-defined]  # noqa: F821 (Sphinx defines it)

project = 'remx'
author = 'the remx maintainers'
copyright = 'the remx maintainers, Apache License 2.0'
version = release = remx_version

extensions = ['myst_parser', 'sphinx_copybutton']
source_suffix = {'.md': 'markdown'}
myst_enable_extensions = ['colon_fence']
myst_heading_anchors = 4
nitpicky = False
add_module_names = False
python_display_short_literal_types = True
toc_object_entries = False

templates_path = [str(Path(__file__).resolve().parent / 'templates')]
html_theme = 'furo'
html_title = 'remx 文档' if chinese else 'remx'
html_favicon = str(Path(__file__).resolve().parent / 'static' / 'favicon.svg')
html_logo = html_favicon
html_search_language = 'en'         # docs/static/search.js searches; Sphinx's index is not used
html_copy_source = False
html_show_sphinx = False
html_static_path = [str(Path(__file__).resolve().parent / 'static')]
html_css_files = ['remx.css']
html_sidebars = {'**': ['sidebar/brand.html', 'language.html', 'sidebar/search.html', 'sidebar/scroll-start.html',
                        'sidebar/navigation.html', 'sidebar/scroll-end.html']}
html_context = {
    'other': 'en' if chinese else 'zh', 'other_name': 'English' if chinese else '简体中文',
    'version_label': '版本' if chinese else 'Version',
    'search_found': '找到 {n} 个页面：{q}' if chinese else '{n} pages found for {q}',
    'search_none': '没有找到 {q}。试试更短的词，或其他说法。' if chinese else
                   'Nothing found for {q}. Try fewer or other words.',
    'search_noscript': '搜索需要 JavaScript。' if chinese else 'Search needs JavaScript.',
}
copybutton_prompt_text = r'>>> |\.\.\. |\$ '
copybutton_prompt_is_regexp = True
highlight_language = 'none'
