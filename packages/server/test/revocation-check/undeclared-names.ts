/** Finds names that a broken build uses but does not declare: it starts with them, and throws when it reaches them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import type { Edit } from './mutant-edits.ts';
import { applyEdits } from './mutant-run.ts';

const source = new URL('../../src/', import.meta.url);
const oxlint = fileURLToPath(new URL('../../../../node_modules/oxlint/bin/oxlint', import.meta.url));
const configuration = {
  plugins: [],
  categories: { correctness: 'off' },
  env: { node: true, es2024: true },
  rules: { 'no-undef': 'error' },
};

interface Diagnostic {
  readonly filename: string;
  readonly message: string;
}

/**
 * @returns `<index of the build>/<file>: <message>` for each undeclared name
 * @throws Error if the linter does not read every edited file
 */
export function findUndeclaredNames(builds: readonly { readonly edits: readonly Edit[] }[]): string[] {
  using folder = newTempFolder();
  let files = 0;
  for (const [index, { edits }] of builds.entries()) {
    for (const [file, text] of applyEdits(edits, (name) => readFileSync(new URL(name, source), 'utf8'))) {
      const path = join(folder.path, String(index), file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      files++;
    }
  }
  writeFileSync(join(folder.path, '.oxlintrc.json'), JSON.stringify(configuration));
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, '--format', 'json'], {
    cwd: folder.path,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (!stdout.startsWith('{')) throw new Error(`oxlint: ${stdout}${stderr}`);
  const report = JSON.parse(stdout) as { diagnostics: Diagnostic[]; number_of_files: number };
  if (report.number_of_files !== files) throw new Error(`oxlint has read ${report.number_of_files} of ${files} files`);
  return report.diagnostics.map(({ filename, message }) => `${filename}: ${message}`);
}
