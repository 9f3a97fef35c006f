/** The Python library: its rules, broken builds of it, its types, and the wheel that is published. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildWheel } from '../../../scripts/package-python.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { edited, makeMutant, pythonMutants } from './mutants.ts';
import { packageFolder, pythonEnvironment, runPython, skip } from './python.ts';

const isAll = process.env['KEYREEVE_TEST_MUTANTS'] === 'all';
/** Those that take little time; `KEYREEVE_TEST_MUTANTS=all` runs all. */
const quick =
  /^rule (?:1: a question shares|2: the last|3: equal questions|4: a question with|7|9|10: plain HTTP to each)/;

const unittest = (pattern: string, source?: string): Promise<{ status: number | null; output: string }> =>
  runPython(['-m', 'unittest', 'discover', '-s', 'test', '-k', pattern], pythonEnvironment(source));

test('the Python library keeps the rules', { skip }, async () => {
  const { status, output } = await unittest('*');
  assert.equal(status, 0, output);
  assert.match(output, /^Ran 2\d tests/m);
});

test('the Python library and its tests have the right types', { skip }, async () => {
  const { status, output } = await runPython(['-m', 'mypy', '--cache-dir', '/dev/null'], pythonEnvironment());
  assert.equal(status, 0, output);
});

test('the wheel has the library with its types, and needs no other package', { skip }, async () => {
  using folder = newTempFolder();
  const wheel = buildWheel(fileURLToPath(new URL('../../..', import.meta.url)), join(folder.path, 'built'));
  const args = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--disable-pip-version-check'];
  const target = join(folder.path, 'installed');
  const { status, output } = await runPython([...args, '--target', target, wheel], {});
  assert.equal(status, 0, output);
  const metadata = readFileSync(join(target, 'keyreeve-0.1.0.dist-info/METADATA'), 'utf8');
  assert.doesNotMatch(metadata, /^Requires-Dist/m);
  assert.equal(readFileSync(join(target, 'keyreeve/py.typed'), 'utf8'), '');
  // Without the packages of the virtual environment.
  const code = 'import keyreeve, keyreeve.asgi, keyreeve.wsgi; print(keyreeve.__file__)';
  const imported = await runPython(['-S', '-c', code], { PYTHONPATH: target });
  assert.equal(imported.output.trim(), join(target, 'keyreeve/__init__.py'));
});

for (const mutant of pythonMutants) {
  test(`the edit of a broken build fits the Python sources: ${mutant.name}`, () => {
    edited(mutant, readFileSync(join(packageFolder, 'src/keyreeve', mutant.file), 'utf8'));
  });
}

// The tests of a broken build wait for things that do not happen.
suite('the tests detect broken builds of the Python library', { concurrency: 2 }, () => {
  for (const mutant of pythonMutants.filter(({ name }) => isAll || quick.test(name))) {
    test(mutant.name, { skip }, async () => {
      using folder = newTempFolder();
      const source = makeMutant(mutant, folder.path);
      const { status, output } = await unittest(mutant.test.replaceAll('rule', 'test_rule'), source);
      assert.notEqual(status, 0, output);
      assert.match(output, /^FAILED \(/m, 'the tests run to their end');
    });
  }
});
