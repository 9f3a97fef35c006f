/**
 * Opens the installed Chromium, controlled by playwright-core, without a download. A run of many files starts it once
 * (`startBrowserServer`), and each file connects to it: the files share no browser context.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';
import { programMsMax } from '../../test-kit/time-limits.ts';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export interface BrowserServer extends AsyncDisposable {
  /** For the variable TEST_BROWSER of the tests that use it. Its path is secret. */
  readonly endpoint: string;
}

/** @returns undefined if Chromium is not installed */
export async function startBrowserServer(): Promise<BrowserServer | undefined> {
  const options = launchOptions();
  if (!options) return undefined;
  const server = await chromium.launchServer({ ...options, host: '127.0.0.1' });
  return { endpoint: server.wsEndpoint(), [Symbol.asyncDispose]: () => server.close() };
}

/** @returns undefined if Chromium is not installed */
export async function launchBrowser(): Promise<Browser | undefined> {
  const browser = await connectOrLaunch();
  browser?.on('context', (context) => context.setDefaultTimeout(programMsMax));
  return browser;
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

async function connectOrLaunch(): Promise<Browser | undefined> {
  const { TEST_BROWSER: endpoint } = process.env;
  if (endpoint !== undefined) return chromium.connect(endpoint, { timeout: programMsMax });
  const options = launchOptions();
  return options && chromium.launch(options);
}

function launchOptions() {
  const executablePath = paths.find((path) => existsSync(path));
  if (executablePath === undefined) return undefined;
  // Chromium's sandbox is not available to root. The browser opens only our own pages.
  return { executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: programMsMax };
}
