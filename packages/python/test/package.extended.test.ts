/** The wheel of the Python library that is published, and broken builds, which the tests of the rules detect. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backend, buildSdist, buildWheel } from '../../../scripts/package-python.ts';
import { pythonVersion } from '../../../scripts/version-places.ts';
import { version } from '../../server/src/app/version.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeMutant, pythonMutants } from './mutants.ts';
import { runPython, runRules, skip } from './python.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('the wheel has the library with its types, and needs no other package', { skip }, async () => {
  using folder = newTempFolder();
  const wheel = buildWheel(root, join(folder.path, 'built'));
  const args = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--disable-pip-version-check'];
  const target = join(folder.path, 'installed');
  const { status, output } = await runPython([...args, '--target', target, wheel], {});
  assert.equal(status, 0, output);
  const metadata = readFileSync(join(target, `keyreeve-${pythonVersion(version)}.dist-info/METADATA`), 'utf8');
  assert.doesNotMatch(metadata, /^Requires-Dist/m);
  assert.equal(readFileSync(join(target, 'keyreeve/py.typed'), 'utf8'), '');
  // Without the packages of the virtual environment.
  const code = 'import keyreeve, keyreeve.asgi, keyreeve.wsgi; print(keyreeve.__file__)';
  const imported = await runPython(['-S', '-c', code], { PYTHONPATH: target });
  assert.equal(imported.output.trim(), join(target, 'keyreeve/__init__.py'));
});

test(
  'the source archive builds the same wheel, and the archives name the repository of the build',
  { skip },
  async () => {
    using folder = newTempFolder();
    const url = 'https://forge.example.com/keyreeve/keyreeve';
    process.env['KEYREEVE_REPOSITORY_URL'] = url;
    const [wheel, sdist] = [buildWheel(root, join(folder.path, 'wheel')), buildSdist(root, join(folder.path, 'sdist'))];
    delete process.env['KEYREEVE_REPOSITORY_URL'];
    const again = join(folder.path, 'again');
    const offline = [
      '--no-index',
      '--no-build-isolation',
      '--no-deps',
      '--no-cache-dir',
      '--disable-pip-version-check',
    ];
    const { status, output } = await runPython(['-m', 'pip', 'wheel', ...offline, '--wheel-dir', again, sdist], {});
    assert.equal(status, 0, output);
    // The metadata of the archive is that of the wheel, and an index accepts it.
    const code = `import json, sys, zipfile
from packaging.metadata import Metadata
files = [{i.filename: z.read(i).decode() for i in z.infolist()} for z in map(zipfile.ZipFile, sys.argv[1:])]
metadata = next(text for name, text in files[0].items() if name.endswith("METADATA"))
assert Metadata.from_email(metadata, validate=True).description_content_type == "text/markdown"
print(json.dumps([files[0] == files[1], [line for line in metadata.splitlines() if line.startswith("Project-URL")]]))`;
    const compared = await runPython(['-c', code, wheel, join(again, basename(wheel))], {});
    const urls = [`Project-URL: Repository, ${url}`, `Project-URL: Issues, ${url}/issues`];
    assert.deepEqual(JSON.parse(compared.output), [true, urls], compared.output);
  },
);

test('a new environment for the build gets every package that the build backend needs', { skip }, async () => {
  const code = `import importlib.metadata as m, json, re, sys
names = lambda name: [re.match(r"[\\w.-]+", r).group() for r in m.requires(name) or [] if "extra ==" not in r]
print(json.dumps({name: [n for n in names(name) if n != "tomli"] for name in sys.argv[1:]}))`;
  const { output } = await runPython(['-c', code, ...backend], {});
  const needed = Object.values(JSON.parse(output) as Record<string, string[]>).flat();
  assert.deepEqual([...new Set(['hatchling', ...needed])].toSorted(), backend);
});

suite('the tests detect broken builds of the Python library', () => {
  for (const mutant of pythonMutants) {
    test(mutant.name, { skip }, async () => {
      using folder = newTempFolder();
      const { status, output } = await runRules(
        mutant.test.replaceAll('rule', 'test_rule'),
        makeMutant(mutant, folder.path),
      );
      assert.notEqual(status, 0, output);
      assert.match(output, /^FAILED \(failures=/m, 'the build works, and the tests run to their end');
    });
  }
});
