/** Clients that public generators make of openapi.json: their types are right, and they work against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generateSource } from 'oazapfts';
import openApiTypescript, { astToString } from 'openapi-typescript';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { assertWorks } from './generated-client-flow.ts';

const document = fileURLToPath(new URL('../../../../openapi.json', import.meta.url));
/** The compiler of the repository: the generators bring an older one. */
const compiler = join(
  dirname(createRequire(new URL('../../../../package.json', import.meta.url)).resolve('typescript/package.json')),
  'bin',
  'tsc',
);
const folder = newTempFolder();

/** The callers beside what the generators made, and the packages that they import. */
before(async () => {
  cpSync(new URL('./clients/', import.meta.url), folder.path, { recursive: true });
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder.path, 'schema.d.ts'), astToString(await openApiTypescript(pathToFileURL(document))));
  writeFileSync(join(folder.path, 'oazapfts-client.ts'), await generateSource(document));
  mkdirSync(join(folder.path, 'node_modules', '@oazapfts'), { recursive: true });
  for (const name of ['openapi-fetch', '@oazapfts/runtime']) {
    const entry = fileURLToPath(import.meta.resolve(name));
    const home = entry.slice(0, entry.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
    symlinkSync(home, join(folder.path, 'node_modules', name), 'junction');
  }
});
after(() => folder[Symbol.dispose]());

test('the compiler accepts right calls of the generated clients, and finds each wrong one', async () => {
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '-p', folder.path, '--pretty', 'false'], (_, stdout) => resolve(stdout));
  });
  const found = [...output.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(([, file, line]) => `${file}:${line}`);
  const lines = readFileSync(join(folder.path, 'misuse.ts'), 'utf8').split('\n');
  const wrong = lines.flatMap((line, index) => (/^(?:await |const (?!client))/.test(line) ? [index + 1] : []));
  assert.equal(wrong.length, 7);
  const expected = wrong.map((line) => `misuse.ts:${line}`);
  assert.deepEqual(
    [...new Set(found)].map((place) => place.replace(/^.*[\\/]/, '')),
    expected,
    output,
  );
});

test('the client of oazapfts signs in, creates a key, lists it, and sees it rejected once it is deleted', () =>
  assertWorks('oazapfts', join(folder.path, 'oazapfts.ts')));
