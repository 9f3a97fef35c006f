/** The module of the Go library that users import, data races, and broken builds, which the tests of the rules detect. */
import assert from 'node:assert/strict';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { buildGoModule } from '../../../scripts/package-go.ts';
import { goModulePath } from '../../../scripts/package-names.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeModuleOfMutants, nameOfMutant } from './mutant-module.ts';
import { noRaceDetector, packageFolder, run, runGo, skip } from './go.ts';
import { goMutants } from './mutants.ts';

test('the Go library keeps the rules without data races', { skip: skip || noRaceDetector }, async () => {
  const { status, output } = await runGo(['test', '-count=1', '-timeout=0', '-vet=off', '-race', '.']);
  assert.equal(status, 0, output);
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
  const edit = ['mod', 'edit', '-require', 'keyreeve@v1.0.0', '-replace', `keyreeve=${library}`];
  assert.deepEqual(await runGo(edit, program), { status: 0, output: '' });
  assert.deepEqual(await runGo(['mod', 'tidy'], program), { status: 0, output: '' });
  assert.deepEqual(await runGo(['run', '.'], program), { status: 0, output: '' });
  const { output } = await runGo(['list', '-m', 'all'], program);
  assert.equal(output, `example.com/program\nkeyreeve v1.0.0 => ${library}\n`);
});

test('the released module has its final path, also in its examples and its README', { skip }, async () => {
  using folder = newTempFolder();
  const path = 'forge.example.com/keyreeve/keyreeve-go';
  const archive = buildGoModule(join(packageFolder, '../..'), join(folder.path, 'built'), path);
  assert.deepEqual(await run('tar', ['-xzf', archive, '--strip-components=1'], folder.path), { status: 0, output: '' });
  assert.deepEqual(await runGo(['list', '-m'], folder.path), { status: 0, output: `${path}\n` });
  // It compiles the examples, which import the module.
  assert.deepEqual(await runGo(['vet', '.'], folder.path), { status: 0, output: '' });
  const texts = globSync('*', { cwd: folder.path }).filter((name) => /\.(?:go|md|mod)$/.test(name));
  assert.ok(texts.includes('README.md') && !texts.includes('client_test.go'), texts.join(' '));
  for (const name of texts)
    assert.doesNotMatch(
      readFileSync(join(folder.path, name), 'utf8'),
      /^(?:module keyreeve|\s+"keyreeve")$|-require keyreeve@/m,
    );
  assert.throws(() => goModulePath('keyreeve-go'), /^Error: KEYREEVE_GO_MODULE: /);
});

test('the Go library has the right types on each system', { skip }, async () => {
  using folder = newTempFolder();
  const program = join(folder.path, 'types');
  assert.deepEqual(await runGo(['build', '-o', program, './test/types']), { status: 0, output: '' });
  for (const [system, file] of [
    ['windows', 'quiet_other.go'],
    ['darwin', 'quiet_unix.go'],
  ] as const) {
    const { status, output } = await run(program, [], packageFolder, { GOOS: system, CGO_ENABLED: '0' });
    assert.equal(status, 0, output);
    assert.match(output, RegExp(`^${system}: .*\\b${file}\\b`));
  }
});

suite('the tests detect broken builds of the Go library', { skip }, () => {
  let output = '';
  before(async () => {
    using folder = newTempFolder();
    makeModuleOfMutants(folder.path);
    ({ output } = await runGo(['test', '-timeout=0', '-vet=off', '-v', '.'], folder.path));
  });
  for (const [index, { name }] of goMutants.entries())
    test(name, () => {
      assert.match(output, new RegExp(`^ +--- FAIL: TestMutants/${nameOfMutant(index)}/Test`, 'm'), output);
    });
});
