/** docs/upgrade.md has the releases of the program and of the changelog. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newestSchema } from '../../src/foundation/database/migrate.ts';
import { oldestReleaseFor, releases } from '../../src/foundation/database/releases.ts';
import { readPage } from './shell-blocks.ts';

test('each release of the changelog is in the table of schemas, which the program knows', () => {
  const rows = [...readPage('docs/upgrade.md').matchAll(/^(\d+\.\d+\.\d+) \| (\d+)$/gm)];
  const table = rows.map(([, name, schema]) => ({ name, schema: Number(schema) }));
  assert.deepEqual(table, releases);
  const published = [...readPage('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)(?:-rc\.\d+)? /gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(
    published.toReversed(),
    table.map(({ name }) => name),
  );
  const schemas = releases.map(({ schema }) => schema);
  assert.deepEqual(
    schemas,
    schemas.toSorted((one, other) => one - other),
  );
  assert.ok(Math.max(...schemas) <= newestSchema('sqlite'));
});

test('the oldest release is the first that knows the needed schema', () => {
  assert.deepEqual([1, 2].map(oldestReleaseFor), ['1.0.0', undefined]);
});

test('the security policy and the page of upgrades support the same versions', () => {
  const promise = /^(The latest minor release .*) \| (for .*)$/m.exec(readPage('docs/upgrade.md'))?.slice(1).join(' ');
  const policy = readPage('SECURITY.md').replaceAll(/\s+/g, ' ');
  const [, sentence] = /\. (The latest minor release [^.(]*) \(/.exec(policy) ?? [];
  assert.ok(promise !== undefined && sentence === promise, `${promise}\n${sentence}`);
});
