"""Builds the files of a release into dist/: `python tools/release.py [--check]`.

- the wheel and the sdist, the same bytes each time they are built from one commit (SOURCE_DATE_EPOCH; the sdist is
  packed again with sorted names, one time and no owner)
- `remx-VERSION.cdx.json`, an SBOM in CycloneDX 1.6: remx and the packages that an installation brings, from
  constraints.txt
- SHA256SUMS

`--check` also runs `twine check --strict` and, if cyclonedx-bom is installed, validates the SBOM; both come with
`pip install "remx[release]"`.
"""
import argparse
import gzip
import hashlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ('LICENSE', 'README.md', 'constraints.txt', 'pyproject.toml', 'setup.py', 'mxnet')


def epoch():
    """The time that all files get: SOURCE_DATE_EPOCH, or that of the last commit."""
    given = os.environ.get('SOURCE_DATE_EPOCH')
    if given:
        return int(given)
    return int(subprocess.check_output(['git', '-C', str(ROOT), 'log', '-1', '--format=%ct'], text=True))


def build(target, when):
    """Builds the sdist from a clean copy of the sources, and the wheel from the same copy."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / 'source'
        source.mkdir()
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns('__pycache__', '*.pyc'))
            else:
                shutil.copy(ROOT / name, source)
        program = ('import sys, setuptools.build_meta as backend\n'
                   'target = sys.argv[1]; backend.build_sdist(target); backend.build_wheel(target)')
        environment = {**os.environ, 'SOURCE_DATE_EPOCH': str(when)}
        done = subprocess.run([sys.executable, '-c', program, folder], cwd=source, env=environment,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        target.mkdir(parents=True, exist_ok=True)
        wheel, sdist = next(Path(folder).glob('*.whl')), next(Path(folder).glob('*.tar.gz'))
        shutil.copy(wheel, target)
        repack(sdist, target / sdist.name, when)
        return target / wheel.name, target / sdist.name


def repack(source, target, when):
    """Writes a .tar.gz again so that its bytes depend on names and contents only."""
    packed = io.BytesIO()
    with tarfile.open(source) as old, tarfile.open(fileobj=packed, mode='w', format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = when, 0, 0, '', ''
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    with open(target, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=when) as zipped:
        zipped.write(packed.getvalue())


def needed(names):
    """The pinned versions of packages and of all that they need, as installed in this environment."""
    pins = dict(re.findall(r'^([\w.-]+)==(\S+)$', (ROOT / 'constraints.txt').read_text(), re.MULTILINE))
    pins = {normal(name): version for name, version in pins.items()}
    found, wanted = {}, list(names)
    while wanted:
        name = normal(wanted.pop())
        if name in found or name not in pins:
            continue
        found[name] = pins[name]
        try:
            requires = importlib.metadata.requires(name) or ()
        except importlib.metadata.PackageNotFoundError:
            continue
        wanted += [re.match(r'[\w.-]+', line)[0] for line in requires if 'extra ==' not in line]
    return found


def normal(name):
    return re.sub(r'[-_.]+', '-', name).lower()


def sbom(version, wheel, when):
    """An SBOM in CycloneDX's JSON."""
    project = tomllib.loads((ROOT / 'pyproject.toml').read_text(encoding='utf-8'))['project']
    packages = needed(re.match(r'[\w.-]+', line)[0] for line in project['dependencies'])
    reference = {name: f'pkg:pypi/{name}@{found}' for name, found in packages.items()}
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return {
        '$schema': 'http://cyclonedx.org/schema/bom-1.6.schema.json', 'bomFormat': 'CycloneDX', 'specVersion': '1.6',
        'serialNumber': f'urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}', 'version': 1,
        'metadata': {
            'timestamp': datetime.fromtimestamp(when, UTC).strftime('%Y-%m-%dT%H:%M:%SZ'),
            'component': {'type': 'library', 'name': 'remx', 'version': version, 'bom-ref': f'pkg:pypi/remx@{version}',
                          'purl': f'pkg:pypi/remx@{version}', 'licenses': [{'license': {'id': 'Apache-2.0'}}],
                          'hashes': [{'alg': 'SHA-256', 'content': digest}],
                          'externalReferences': [{'type': 'vcs', 'url': project['urls']['Repository']}]}},
        'components': [{'type': 'library', 'name': name, 'version': packages[name], 'bom-ref': reference[name],
                        'purl': reference[name]} for name in sorted(packages)],
        'dependencies': [{'ref': f'pkg:pypi/remx@{version}',
                          'dependsOn': [reference[normal(re.match(r'[\w.-]+', line)[0])]
                                        for line in project['dependencies']]}],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=ROOT / 'dist')
    parser.add_argument('--check', action='store_true', help='run twine check, and validate the SBOM')
    options = parser.parse_args()
    when = epoch()
    wheel, sdist = build(options.out, when)
    version = wheel.name.split('-')[1]
    bill = options.out / f'remx-{version}.cdx.json'
    bill.write_text(json.dumps(sbom(version, wheel, when), indent=2) + '\n', encoding='utf-8')
    files = (wheel, sdist, bill)
    sums = ''.join(f'{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n' for path in files)
    (options.out / 'SHA256SUMS').write_text(sums, encoding='utf-8')
    print(sums, end='')
    if options.check:
        subprocess.run([sys.executable, '-m', 'twine', 'check', '--strict', wheel, sdist], check=True)
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator
        wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read_text(encoding='utf-8'))
        if wrong is not None:
            sys.exit(f'{bill}: {wrong}')
        print(f'{bill.name}: valid CycloneDX 1.6')


if __name__ == '__main__':
    main()
