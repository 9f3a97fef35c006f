/** The Dockerfile and the steps that image.extended.test.ts runs without a container engine. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { imageUser } from './container.ts';

test('the Dockerfile runs the same script with the same user and data folder', () => {
  const dockerfile = readFileSync(new URL('../../../../Dockerfile', import.meta.url), 'utf8');
  assert.match(dockerfile, /^RUN sh scripts\/image-install\.sh \/app$/m);
  assert.match(dockerfile, new RegExp(`^USER ${imageUser}:${imageUser}$`, 'm'));
  assert.match(dockerfile, /^VOLUME \/data$/m);
});
