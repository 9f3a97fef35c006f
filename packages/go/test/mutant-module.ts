/** One Go module with all broken builds of the library, so that the linker, which takes most of the time, runs once. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edited, type LibraryMutant } from '../../conformance/library-mutants.ts';
import { packageFolder } from './go.ts';
import { goMutants, stateOfMutants } from './mutants.ts';

export const nameOfMutant = (index: number): string => `mutant${index}`;

/** Each broken build is a package with the tests that detect it; `TestMutants/mutant0/TestRule1…` are their names. */
export function makeModuleOfMutants(folder: string): void {
  const names = goMutants.map((_, index) => nameOfMutant(index));
  for (const [index, mutant] of goMutants.entries()) makePackage(mutant, join(folder, nameOfMutant(index)));
  writeFileSync(join(folder, 'go.mod'), 'module mutants\n\ngo 1.22\n');
  const imports = names.map((name) => `\t${name} "mutants/${name}"`).join('\n');
  const runs = names.map((name) => `\tt.Run("${name}", ${name}.RunTests)`).join('\n');
  const tests = `package mutants

import (
\t"testing"

${imports}
)

func TestMutants(t *testing.T) {
${runs}
}
`;
  writeFileSync(join(folder, 'mutants_test.go'), tests);
}

function makePackage(mutant: LibraryMutant, folder: string): void {
  mkdirSync(folder);
  const names: string[] = [];
  for (const file of readdirSync(packageFolder)) {
    if (!file.endsWith('.go') || left.includes(file)) continue;
    const text = readFileSync(join(packageFolder, file), 'utf8');
    // Files whose names end in _test.go are not part of a package that another one imports.
    writeFileSync(
      join(folder, file.replace(/_test\.go$/, '_of_tests.go')),
      file === mutant.file ? edited(mutant, packageFolder) : text,
    );
    if (file.endsWith('_test.go'))
      names.push(...Array.from(text.matchAll(/^func (Test\w+)\(/gm), ([, name = '']) => name));
  }
  writeFileSync(join(folder, 'state.go'), stateOfMutants);
  const runs = names
    .filter((name) => new RegExp(mutant.test).test(name))
    .map((name) => `\tt.Run("${name}", ${name})`)
    .join('\n');
  const run = `package keyreeve

import "testing"

func RunTests(t *testing.T) {
${runs}
}
`;
  writeFileSync(join(folder, 'run.go'), run);
}

/** The first one has the function TestMain, and the other one is in a package of its own. */
const left = ['program_test.go', 'example_test.go'];
