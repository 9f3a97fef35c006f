/**
 * The short path is a strict subset of node:http: the same result, framing and bounds, for mutated requests that are split at
 * random places. A run of a million requests: `SHORT_PATH_CONNECTIONS=110000 npm test -- short-path/differential`.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createHttpServer } from '../../src/http/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { applyEdits } from '../revocation-check/mutant-run.ts';
import { compare } from './differential.ts';
import { parserMutants } from './mutants.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

const connections = Number(process.env['SHORT_PATH_CONNECTIONS'] ?? 1_000);
/** Enough to detect each mistake in `mutants.ts`. */
const connectionsPerMutant = 1_500;

const seeds = (count: number): Iterable<number> => Array.from({ length: count }, (_, index) => index + 1);

test('both paths answer mutated requests, split at random places, with the same bytes', async (t) => {
  const { requests, short } = await compare(seeds(connections), createHttpServer);
  t.diagnostic(`${requests} requests, ${short} of them answered by the short path`);
  assert.ok(short > requests / 5);
});

for (const { name, edits } of parserMutants) {
  test(`the comparison detects a short path with a mistake: ${name}`, async () => {
    using folder = newTempFolder();
    const copy = join(folder.path, 'src');
    mkdirSync(copy);
    for (const part of ['http', 'foundation']) cpSync(join(source, part), join(copy, part), { recursive: true });
    symlinkSync(modules, join(folder.path, 'node_modules'));
    for (const [file, text] of applyEdits(edits, (path) => readFileSync(join(copy, path), 'utf8')))
      writeFileSync(join(copy, file), text);
    const mutant = (await import(pathToFileURL(join(copy, 'http/server.ts')).href)) as {
      createHttpServer: typeof createHttpServer;
    };
    await assert.rejects(compare(seeds(connectionsPerMutant), mutant.createHttpServer, 0.3), { code: 'ERR_ASSERTION' });
  });
}
