/** The curl that documented commands run. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** @returns false where the machine has none: then the test is named as not tried, and fails in CI */
export function hasCurl(t: TestContext): boolean {
  if (spawnSync('curl', ['--version']).status === 0) return true;
  assert.notEqual(process.env['CI'], 'true', 'curl is not installed, and CI must try it');
  t.diagnostic('not tried: curl is not installed');
  t.skip('curl is not installed');
  return false;
}
