/** Opens the installed Chromium, controlled by playwright-core, without a download. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** @returns undefined if Chromium is not installed */
export async function launchBrowser(): Promise<Browser | undefined> {
  const executablePath = paths.find((path) => existsSync(path));
  if (executablePath === undefined) return undefined;
  // Chromium's sandbox is not available to root. The browser opens only our own pages.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: 120_000 });
}

/** @returns undefined if Chromium is not installed: then the test is skipped, and fails in CI */
export async function openBrowser(t: TestContext): Promise<Browser | undefined> {
  const browser = await launchBrowser();
  if (browser) return browser;
  assert.notEqual(process.env['CI'], 'true', 'chromium is not installed, but CI requires it');
  t.diagnostic('skipped: chromium is not installed');
  t.skip('chromium is not installed');
  return undefined;
}
