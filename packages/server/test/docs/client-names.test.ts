/** Every variable KEYREEVE_… in the documents, the libraries and the console is a setting, or a name that the service ignores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientNames } from '../../src/app/configuration/ignored-names.ts';
import type { Setting } from '../../src/app/configuration/setting.ts';
import { settingsFileName } from '../../src/app/configuration/settings-file.ts';
import { settings } from '../../src/app/configuration/settings.ts';
import { texts } from './tree.ts';

const handedOut = [...texts].filter(
  ([path]) =>
    (path.endsWith('.md') || /^(?:docs|ops|packages\/(?:client|elements|python|go|otel|console))\//.test(path)) &&
    !/(?:\/test\/|_test\.go$)/.test(path),
);

test('a name that a document or a library gives to a client does not stop the service', () => {
  const known = new Set([
    ...Object.keys(clientNames),
    settingsFileName,
    ...Object.values<Setting<unknown>>(settings).flatMap(({ name, isSecret }) => [
      name,
      ...(isSecret ? [`${name}_FILE`] : []),
    ]),
  ]);
  const found = handedOut.flatMap(([path, text]) =>
    // With `…` or `_` at its end, a text names a group of variables.
    [...text.matchAll(/\bKEYREEVE_[A-Z0-9_]*[A-Z0-9]\b(?!…)/g)].map(([name]) => ({ name, path })),
  );
  const names = new Set(found.map(({ name }) => name));
  for (const name of ['KEYREEVE_KEY', 'KEYREEVE_URL', 'KEYREEVE_WEBHOOK_SECRET']) assert.ok(names.has(name), name);
  assert.deepEqual(
    found.filter(({ name }) => !known.has(name)),
    [],
  );
});
