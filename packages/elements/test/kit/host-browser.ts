/** A browser with the page of a host, as a person has it: without permissions, and with a clock that tests move. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, type TestContext } from 'node:test';
import { firefox, type Browser, type BrowserContext, type Frame, type Locator, type Page } from 'playwright-core';
import type { RedeemedPortalSession } from '@keyreeve/contract';
import { openBrowser } from '../../../server/test/e2e/browser.ts';
import { programMsMax } from '../../../server/test-kit/time-limits.ts';
import { awaited, until } from '../../../server/test-kit/until.ts';
import type { Host } from './host.ts';

/** Longer than the pause of the key page before a second step. */
const pauseMs = 600;

let browser: Browser | undefined;
after(async () => {
  if (browser) await awaited('the browser ends', browser.close());
});

const firefoxPaths = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

/**
 * Firefox as its makers and Debian publish it, over WebDriver BiDi.
 * @returns undefined if it is not installed: then the test is skipped, and fails under CI
 */
export async function openFirefox(t: TestContext, host: Host): Promise<HostBrowser | undefined> {
  const executablePath = firefoxPaths.find((path) => existsSync(path));
  if (executablePath === undefined) {
    assert.notEqual(process.env['CI'], 'true', 'firefox-esr is not installed, but CI requires it');
    t.skip('firefox-esr is not installed: not tried');
    return undefined;
  }
  const options = { executablePath, channel: 'moz-firefox', timeout: programMsMax };
  const launched = await awaited('Firefox starts', firefox.launch(options));
  const context = await launched.newContext({ locale: 'en-US' });
  context.setDefaultTimeout(programMsMax);
  await context.clock.install();
  return new HostBrowser(context, await context.newPage(), host, launched);
}

/** @returns undefined if Chromium is not installed */
export async function openHostBrowser(t: TestContext, host: Host): Promise<HostBrowser | undefined> {
  browser ??= await openBrowser(t);
  if (!browser) return void (await openBrowser(t));
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
  await context.clock.install();
  return new HostBrowser(context, await context.newPage(), host);
}

export class HostBrowser implements AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly host: Host;
  /** Secrets of the sessions that the key page has got. */
  readonly secrets: string[] = [];
  /** Messages of the browser. */
  readonly messages: string[] = [];

  readonly #own: Browser | undefined;

  /** @param own ends with this */
  constructor(context: BrowserContext, page: Page, host: Host, own?: Browser) {
    this.#own = own;
    this.context = context;
    this.page = page;
    this.host = host;
    context.on('console', (message) => void this.messages.push(`${message.type()}: ${message.text()}`));
    context.on('response', (response) => {
      const isRedeemed = response.status() === 201 && response.url().endsWith('/auth/portal/session');
      if (isRedeemed)
        void response.json().then(
          (json: RedeemedPortalSession) => void this.secrets.push(json.secret),
          () => undefined,
        );
    });
  }

  /** The newest frame of the key page. */
  get frame(): Frame {
    const frame = this.frames.at(-1);
    assert.ok(frame, 'the page has a frame of the key page');
    return frame;
  }

  get frames(): Frame[] {
    return this.page.frames().filter((each) => each.url().startsWith(`${this.host.service}/portal/`));
  }

  async open(url = `${this.host.origin}/`): Promise<void> {
    await this.page.goto(url);
    await this.settle();
  }

  async settle(): Promise<void> {
    await until('the frame loads', () => this.frames.length > 0);
    await this.frame.locator('main h1').waitFor();
    await this.frame.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  }

  button(name: string): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  /** @returns the secret in the dialog, which stays open */
  async create(nickname: string): Promise<string> {
    await this.button('Create key').first().click();
    await this.frame.getByRole('dialog').waitFor();
    await this.settle();
    await this.frame.getByLabel('Nickname').fill(nickname);
    await this.page.clock.fastForward(pauseMs);
    await this.frame.getByRole('dialog').locator('[type=submit]').click();
    return this.frame.getByLabel('Secret', { exact: true }).inputValue();
  }

  async closeSecret(): Promise<void> {
    await this.frame.getByLabel('I have stored it').click();
    await this.button('Close').click();
    await this.frame.getByRole('dialog').waitFor({ state: 'detached' });
  }

  events(): Promise<string[]> {
    return this.page.evaluate('events');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await awaited('the browser context ends', this.context.close());
    if (this.#own) await awaited('Firefox ends', this.#own.close());
  }
}
