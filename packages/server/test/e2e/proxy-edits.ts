/** Places in the files of proxies that an operator edits, and broken builds of the service that a check must detect. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { readPage } from '../docs/shell-blocks.ts';
import type { Edit } from '../revocation-check/mutant-edits.ts';
import { makeCopy } from '../revocation-check/mutant-run.ts';
import { proxies } from './proxy-programs.ts';

/** @param what names the place @param edits by name of the proxy */
export function testPlaces(
  what: string,
  edits: Readonly<Record<string, readonly [find: string, replace: string]>>,
): void {
  for (const { name, files } of proxies) {
    const [find] = edits[name] ?? assert.fail();
    test(`the file of ${name} has one place for ${what}`, () => {
      assert.equal(readPage(`docs/forward-auth/${files[0]}`).split(find).length, 2);
    });
  }
}

/** @param start the service with the given program @throws AssertionError unless the check fails */
export async function assertDetects<Server extends { readonly stop: () => Promise<void> }>(
  edits: readonly Edit[],
  start: (main: string) => Promise<Server>,
  check: (server: Server) => Promise<void>,
): Promise<void> {
  using folder = newTempFolder();
  makeCopy(folder.path, edits);
  const broken = await start(join(folder.path, 'packages/server/src/cli/main.ts'));
  try {
    await assert.rejects(check(broken), { code: 'ERR_ASSERTION' });
  } finally {
    await broken.stop();
  }
}
