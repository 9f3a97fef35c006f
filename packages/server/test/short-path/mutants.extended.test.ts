/** The comparison of both paths (`differential.test.ts`) detects each mistake in `mutants.ts`. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as program from '../../src/http/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { applyEdits } from '../revocation-check/mutant-run.ts';
import { compare } from './differential.ts';
import { parserMutants } from './mutants.ts';
import { traffics } from './traffic.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

/** Enough to detect each of them. */
const connections = 1_500;

for (const { name, edits } of parserMutants) {
  test(`the comparison detects a short path with a mistake: ${name}`, async () => {
    using folder = newTempFolder();
    const copy = join(folder.path, 'src');
    mkdirSync(copy);
    for (const part of ['http', 'foundation']) cpSync(join(source, part), join(copy, part), { recursive: true });
    symlinkSync(modules, join(folder.path, 'node_modules'));
    for (const [file, text] of applyEdits(edits, (path) => readFileSync(join(copy, path), 'utf8')))
      writeFileSync(join(copy, file), text);
    const mutant = (await import(pathToFileURL(join(copy, 'http/server.ts')).href)) as Pick<
      typeof program,
      'createHttpServer'
    >;
    await assert.rejects(compare(traffics(connections, 0.3), mutant.createHttpServer), { code: 'ERR_ASSERTION' });
  });
}
