/**
 * The short path is a strict subset of node:http: the same result, framing and bounds, for mutated requests that are split at
 * random places. A run of a million requests: `SHORT_PATH_CONNECTIONS=110000 npm test -- short-path/differential.test`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createHttpServer } from '../../src/http/server.ts';
import { applyEdits } from '../revocation-check/mutant-run.ts';
import { compare } from './differential.ts';
import { parserMutants } from './mutants.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

const connections = Number(process.env['SHORT_PATH_CONNECTIONS'] ?? 1_000);

test('both paths answer mutated requests, split at random places, with the same bytes', async (t) => {
  const seeds = Array.from({ length: connections }, (_, index) => index + 1);
  const { requests, short } = await compare(seeds, createHttpServer);
  t.diagnostic(`${requests} requests, ${short} of them answered by the short path`);
  assert.ok(short > requests / 5);
});

// The comparison of each with node:http: mutants.extended.test.ts.
test('each mistake in mutants.ts fits the source', () => {
  for (const { name, edits } of parserMutants) {
    const edited = applyEdits(edits, (path) => readFileSync(join(source, path), 'utf8'));
    assert.ok(edited.size > 0, name);
  }
});
