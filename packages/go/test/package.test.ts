/** The Go library: its rules, broken builds of it, its form, and the module that users import. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { hasRaceDetector, packageFolder, run, runGo, skip } from './go.ts';
import { edited, goMutants, makeMutant } from './mutants.ts';

const isAll = process.env['KEYREEVE_TEST_MUTANTS'] === 'all';
/** Those that take little time; `KEYREEVE_TEST_MUTANTS=all` runs all. */
const quick = /^rule (?:1|2: the last|3: equal questions|4|7|10)/;

test('the Go library keeps the rules, without data races', { skip }, async () => {
  const { status, output } = await runGo(['test', ...(hasRaceDetector() ? ['-race'] : []), '-v', '.']);
  assert.equal(status, 0, output);
  assert.ok([...output.matchAll(/^--- PASS: Test/gm)].length > 20, output);
  assert.doesNotMatch(output, /^--- SKIP/m);
});

test('the Go library is formatted, and go vet finds nothing', { skip }, async () => {
  assert.deepEqual(await run('gofmt', ['-l', '.']), { status: 0, output: '' });
  assert.deepEqual(await runGo(['vet', './...']), { status: 0, output: '' });
});

test('a program outside the repository builds with a copy of the module, and needs no other', { skip }, async () => {
  using folder = newTempFolder();
  const [library, program] = [join(folder.path, 'library'), join(folder.path, 'program')];
  cpSync(packageFolder, library, { recursive: true });
  mkdirSync(program);
  const main = `package main

import "keyreeve"

func main() {
	_, err := keyreeve.New(keyreeve.Config{URL: "https://auth.example.com", ServiceKey: "krv_key"})
	if err != nil {
		panic(err)
	}
}
`;
  writeFileSync(join(program, 'main.go'), main);
  const { output: replaced } = await runGo(['mod', 'init', 'example.com/program'], program);
  assert.match(replaced, /creating new go\.mod/);
  const edit = ['mod', 'edit', '-require', 'keyreeve@v0.1.0', '-replace', `keyreeve=${library}`];
  assert.deepEqual(await runGo(edit, program), { status: 0, output: '' });
  assert.deepEqual(await runGo(['mod', 'tidy'], program), { status: 0, output: '' });
  assert.deepEqual(await runGo(['run', '.'], program), { status: 0, output: '' });
  const { output } = await runGo(['list', '-m', 'all'], program);
  assert.equal(output, `example.com/program\nkeyreeve v0.1.0 => ${library}\n`);
});

for (const system of ['windows', 'darwin'])
  test(`the Go library builds for ${system}`, { skip }, async () => {
    assert.deepEqual(await runGo(['build', '.'], packageFolder, { GOOS: system, CGO_ENABLED: '0' }), {
      status: 0,
      output: '',
    });
  });

for (const mutant of goMutants) {
  test(`the edit of a broken build fits the Go sources: ${mutant.name}`, () => {
    edited(mutant, readFileSync(join(packageFolder, mutant.file), 'utf8'));
  });
}

// The tests of a broken build wait for things that do not happen.
suite('the tests detect broken builds of the Go library', { concurrency: 2 }, () => {
  for (const mutant of goMutants.filter(({ name }) => isAll || quick.test(name))) {
    test(mutant.name, { skip }, async () => {
      using folder = newTempFolder();
      const args = ['test', '-vet=off', '-overlay', makeMutant(mutant, folder.path), '-run', mutant.test, '.'];
      const { status, output } = await runGo(args);
      assert.equal(status, 1, output);
      assert.match(output, /^--- FAIL: Test/m, 'the build succeeds, and the tests run');
    });
  }
});
