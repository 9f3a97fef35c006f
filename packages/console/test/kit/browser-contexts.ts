/**
 * Browser contexts that the tests of a file use one after another. A new page costs Chromium as much processor time as five loads
 * of a page of the console.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { awaited } from '../../../server/test-kit/until.ts';

export interface ContextOptions {
  /** BCP 47. */
  readonly locale?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The pages have a clock that the test moves (`page.clock`). It runs, and stays ahead of the time for later tests. */
  readonly hasClock?: boolean;
  /** A context that no other test has used, for tests about the first load. */
  readonly isNew?: boolean;
}

export interface UsedContext {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly options: ContextOptions;
}

/** In the page: reports violations of the policy as messages. */
const reportViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy violation:', violatedDirective, blockedURI));`;

/** Events of a page for which tests add listeners. */
const pageEvents = ['request', 'framenavigated'] as const;

export class BrowserContexts implements AsyncDisposable {
  readonly origin: string;
  readonly #browser: Browser;
  readonly #free: UsedContext[] = [];

  constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.origin = origin;
  }

  take(options: ContextOptions = {}): Promise<UsedContext> {
    const place = this.#free.findIndex((free) => keyOf(free.options) === keyOf(options));
    const [known] = place < 0 || options.isNew ? [] : this.#free.splice(place, 1);
    return known ? Promise.resolve(known) : awaited('a new page is open', this.#open(options));
  }

  /** Removes what the test has left, so that the next one can use the context. */
  async giveBack(used: UsedContext): Promise<void> {
    const { context, page, options } = used;
    if (options.isNew) return this.close(used);
    await awaited('the browser context is as at its start', async () => {
      for (const tab of context.pages()) if (tab !== page) await tab.close();
      for (const event of pageEvents) page.removeAllListeners(event);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.goto('about:blank');
      await page.setViewportSize(sizeOf(options));
      await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light' });
      const protocol = await context.newCDPSession(page);
      await protocol.send('Storage.clearDataForOrigin', { origin: this.origin, storageTypes: 'all' });
      await protocol.detach();
      await context.clearCookies();
    });
    this.#free.push(used);
  }

  async close({ context }: UsedContext): Promise<void> {
    await awaited('the browser context ends', context.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#free.splice(0).map((free) => this.close(free)));
  }

  async #open(options: ContextOptions): Promise<UsedContext> {
    const { locale = 'en-US', colorScheme = 'light' } = options;
    const context = await this.#browser.newContext({
      baseURL: this.origin,
      locale,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: sizeOf(options),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // As a message, because the page forgets its variables when another document is loaded.
    await context.addInitScript({ content: reportViolations });
    if (options.hasClock) await context.clock.install();
    return { context, page: await context.newPage(), options };
  }
}

const sizeOf = ({ width = 1280, height = 900 }: ContextOptions) => ({ width, height });

const keyOf = ({ locale, colorScheme, width, height, hasClock, isNew }: ContextOptions): string =>
  JSON.stringify([locale, colorScheme, width, height, hasClock, isNew]);
