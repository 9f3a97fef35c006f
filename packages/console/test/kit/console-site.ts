/**
 * Tests of the console: the service in the test's process on each database, and one Chromium, both shared by all tests of a
 * file. Each test opens its own browser contexts. After each test, no context may have recorded a fault (visitor.ts).
 */
import { after, test as nodeTest } from 'node:test';
import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../../../server/test/e2e/browser.ts';
import type { Mailbox } from '../../../server/test-kit/mailbox.ts';
import { goodPassword, type TestApp } from '../../../server/test-kit/new-app.ts';
import { currentKind, databaseKinds } from '../../../server/test-kit/new-db.ts';
import { newInstallation, type Installation, type InstallationOptions } from './installation.ts';
import { Visitor, type VisitorOptions } from './visitor.ts';
import { within } from './within.ts';

export class ConsoleSite {
  readonly app: TestApp;
  readonly mailbox: Mailbox;
  readonly #browser: Browser;
  readonly #visitors: Visitor[] = [];

  constructor({ app, mailbox }: Installation, browser: Browser) {
    this.app = app;
    this.mailbox = mailbox;
    this.#browser = browser;
  }

  get origin(): string {
    return new URL(this.app.service.publicUrl).origin;
  }

  async open(options: VisitorOptions & { readonly origin?: string } = {}): Promise<Visitor> {
    const visitor = await Visitor.open(this.#browser, options.origin ?? this.origin, options);
    this.#visitors.push(visitor);
    return visitor;
  }

  /** A browser context of a new account that is signed in, without the sign-in page. */
  async openSignedIn(options: VisitorOptions & { readonly email?: string } = {}): Promise<Visitor & { email: string }> {
    const { email } = await this.app.createAccount(options.email);
    const visitor = await this.open(options);
    await signInByCookie(visitor.context, email);
    return Object.assign(visitor, { email });
  }

  /** What the browsers reported, for the diagnosis of a failed test. */
  get reports(): string[] {
    return this.#visitors.flatMap(({ faults, state }) => [...faults, state]);
  }

  /** @throws AssertionError if a visitor recorded a fault */
  async assertClean(): Promise<void> {
    for (const visitor of this.#visitors) await visitor.assertClean();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#visitors.map((visitor) => visitor[Symbol.asyncDispose]()));
  }
}

/** Gives the context a session cookie, as the sign-in page does. */
export async function signInByCookie(context: BrowserContext, email: string, password = goodPassword): Promise<void> {
  const response = await context.request.post('/console/session', {
    data: { email, password },
    headers: { 'x-keyreeve-console': 'user' },
  });
  if (!response.ok()) throw new Error(`sign-in: ${response.status()} ${await response.text()}`);
}

type Prove = (site: ConsoleSite) => Promise<void>;
interface ConsoleTestOptions extends InstallationOptions {
  /** Default: both. */
  readonly databases?: readonly (typeof databaseKinds)[number][];
  /** A service that no other test uses, for tests that break it or need an empty database. */
  readonly isAlone?: boolean;
}
export type ConsoleTest = (guarantee: string, prove: Prove, options?: ConsoleTestOptions) => void;

/** Bounds a test on a busy machine. */
const testMsMax = 900_000;
/** Less than testMsMax, so that a test that hangs fails with the reports of its browsers. */
const proveMsMax = 600_000;
const closeMsMax = 120_000;

/** Call once in a file. @param shared options of the service that the tests share */
export function consoleTests(shared: InstallationOptions = {}): ConsoleTest {
  let browser: Promise<Browser | undefined> | undefined;
  const installations = new Map<string, Promise<Installation>>();
  after(async () => {
    const opened = await browser;
    if (opened) await within('the end of the browser', closeMsMax, opened.close());
    const started = await Promise.allSettled(installations.values());
    for (const { value } of started.filter((one) => one.status === 'fulfilled')) await value[Symbol.asyncDispose]();
  });
  const sharedOf = (kind: string): Promise<Installation> => {
    const known = installations.get(kind) ?? newInstallation(shared);
    installations.set(kind, known);
    return known;
  };
  return (guarantee, prove, { databases = databaseKinds, isAlone = false, ...options } = {}) => {
    for (const kind of databases) {
      nodeTest(`${guarantee} (${kind})`, { timeout: testMsMax }, async (t) =>
        currentKind.run(kind, async () => {
          const opened = await (browser ??= openBrowser(t));
          if (!opened) return void (await openBrowser(t));
          await using own = isAlone ? await newInstallation({ ...shared, ...options }) : undefined;
          await using site = new ConsoleSite(own ?? (await sharedOf(kind)), opened);
          try {
            await within('the end of the test', proveMsMax, prove(site));
          } catch (error) {
            for (const report of site.reports) t.diagnostic(report);
            throw error;
          }
          await site.assertClean();
        }),
      );
    }
  };
}
