"""Sphinx's settings for both languages; docs/tools/build.py gives `-D language=` and the language as a tag."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mxnet.libinfo import __version__

chinese = tags.has('zh')  # type: ignore[attr-defined]  # noqa: F821 (Sphinx defines it)

project = 'remx'
author = 'the remx maintainers'
copyright = 'the remx maintainers, Apache License 2.0'
version = release = __version__

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
html_copy_source = False
html_show_sphinx = False
html_static_path = [str(Path(__file__).resolve().parent / 'static')]
html_css_files = ['remx.css']
html_sidebars = {'**': ['sidebar/brand.html', 'language.html', 'sidebar/search.html', 'sidebar/scroll-start.html',
                        'sidebar/navigation.html', 'sidebar/scroll-end.html']}
html_context = {'other': 'en' if chinese else 'zh', 'other_name': 'English' if chinese else '简体中文'}
copybutton_prompt_text = r'>>> |\.\.\. |\$ '
copybutton_prompt_is_regexp = True
highlight_language = 'none'
