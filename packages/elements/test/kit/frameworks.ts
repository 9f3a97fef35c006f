/** The frameworks of `.ci/frameworks`, which `.ci/run` installs. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** Their folder `node_modules`. */
export const frameworks = join(root, '.ci/frameworks/node_modules');

/** @returns false if they are not installed: then the test is skipped, and fails under CI */
export function hasFrameworks(t: TestContext): boolean {
  if (existsSync(join(frameworks, 'react'))) return true;
  assert.notEqual(process.env['CI'], 'true', '.ci/frameworks is not installed, but CI requires it');
  t.skip('.ci/frameworks is not installed: not tried');
  return false;
}
