/** A real browser for a test: Debian's chromium, driven by playwright-core. Nothing is downloaded. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** @returns undefined where the machine has none: then the test is named as not tried, and fails in CI */
export async function openBrowser(t: TestContext): Promise<Browser | undefined> {
  const executablePath = places.find((path) => existsSync(path));
  if (executablePath !== undefined) {
    // Root can't have chromium's sandbox; what is shown is our own page alone.
    return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: 120_000 });
  }
  assert.notEqual(process.env['CI'], 'true', 'chromium is not installed, and CI must try it');
  t.diagnostic('not tried: chromium is not installed');
  t.skip('chromium is not installed');
  return undefined;
}
