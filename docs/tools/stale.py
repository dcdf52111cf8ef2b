"""Lists Chinese pages whose English counterpart was changed in a later commit: `python docs/tools/stale.py`."""
import subprocess

from pages import ROOT, folder, pages


def changed(path):
    """When the file was last committed, in seconds; 0 if never."""
    command = ['git', 'log', '-1', '--format=%ct', '--', str(path)]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout or 0)


if __name__ == '__main__':
    for page in pages('en'):
        if changed(page) > changed(folder('zh') / page.name):
            print(page.name)
