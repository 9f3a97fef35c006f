/**
 * Tests of the console: the service in the test's process, and one Chromium, both shared by all tests of a file. Tests use browser
 * contexts one after another (`browser-contexts.ts`). After each test, no context may have recorded a fault (`visitor.ts`).
 */
import { after, test as nodeTest } from 'node:test';
import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../../../server/test/e2e/browser.ts';
import type { Mailbox } from '../../../server/test-kit/mailbox.ts';
import { goodPassword, type TestApp } from '../../../server/test-kit/new-app.ts';
import { currentKind, testedKinds } from '../../../server/test-kit/new-db.ts';
import { awaited } from '../../../server/test-kit/until.ts';
import { BrowserContexts, type ContextOptions, type UsedContext } from './browser-contexts.ts';
import { newInstallation, type Installation, type InstallationOptions } from './installation.ts';
import { Visitor } from './visitor.ts';

export const originOf = ({ app }: Installation): string => new URL(app.service.publicUrl).origin;

export class ConsoleSite {
  readonly app: TestApp;
  readonly mailbox: Mailbox;
  readonly #contexts: BrowserContexts;
  readonly #visits: { readonly visitor: Visitor; readonly used: UsedContext }[] = [];
  #isClean = false;

  constructor({ app, mailbox }: Installation, contexts: BrowserContexts) {
    this.app = app;
    this.mailbox = mailbox;
    this.#contexts = contexts;
  }

  get origin(): string {
    return this.#contexts.origin;
  }

  async open(options: ContextOptions = {}): Promise<Visitor> {
    const used = await this.#contexts.take(options);
    const visitor = new Visitor(used, this.origin);
    this.#visits.push({ visitor, used });
    return visitor;
  }

  /** A browser context of a new account that is signed in, without the sign-in page. */
  async openSignedIn(options: ContextOptions & { readonly email?: string } = {}): Promise<Visitor & { email: string }> {
    const { email } = await this.app.createAccount(options.email);
    const visitor = await this.open(options);
    await signInByCookie(visitor.context, email);
    return Object.assign(visitor, { email });
  }

  /** The same at the dialog of a new key, which has its nickname. */
  async openNewKey(): Promise<Visitor> {
    const visitor = await this.openSignedIn();
    await visitor.goto('/console/keys');
    await visitor.page.getByRole('button', { name: 'Create key' }).first().click();
    await visitor.page.getByLabel('Nickname').fill('billing worker');
    return visitor;
  }

  /** What the browsers reported, for the diagnosis of a failed test. */
  get reports(): string[] {
    return this.#visits.flatMap(({ visitor: { faults, state } }) => [...faults, state]);
  }

  /** @throws AssertionError if a visitor recorded a fault */
  async assertClean(): Promise<void> {
    for (const { visitor } of this.#visits) await visitor.assertClean();
    this.#isClean = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { visitor, used } of this.#visits) {
      // The browser of a test that failed can be in any state.
      if (!this.#isClean) await this.#contexts.close(used);
      else {
        await visitor.leave();
        await this.#contexts.giveBack(used);
      }
    }
  }
}

/** Gives the context a session cookie, as the sign-in page does. */
export async function signInByCookie(
  context: BrowserContext,
  email: string,
  password = goodPassword,
  code?: string,
): Promise<void> {
  const response = await context.request.post('/console/session', {
    data: { email, password, ...(code === undefined ? {} : { code }) },
    headers: { 'x-keyreeve-console': 'user' },
  });
  if (!response.ok()) throw new Error(`sign-in: ${response.status()} ${await response.text()}`);
}

type Prove = (site: ConsoleSite) => Promise<void>;
interface ConsoleTestOptions extends InstallationOptions {
  /** Default: those of the run (`testedKinds`). */
  readonly databases?: typeof testedKinds;
  /** A service that no other test uses, for tests that break it or need an empty database. */
  readonly isAlone?: boolean;
}
export type ConsoleTest = (guarantee: string, prove: Prove, options?: ConsoleTestOptions) => void;

/** A service, and its browser contexts. */
interface Place extends AsyncDisposable {
  readonly installation: Installation;
  readonly contexts: BrowserContexts;
}

async function newPlace(browser: Browser, options: InstallationOptions): Promise<Place> {
  await using started = new AsyncDisposableStack();
  const installation = started.use(await newInstallation(options));
  const contexts = started.use(new BrowserContexts(browser, originOf(installation)));
  const parts = started.move();
  return { installation, contexts, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Call once in a file. @param shared options of the service that the tests share */
export function consoleTests(shared: InstallationOptions = {}): ConsoleTest {
  let browser: Promise<Browser | undefined> | undefined;
  const places = new Map<string, Promise<Place>>();
  after(async () => {
    const started = await Promise.allSettled(places.values());
    for (const { value } of started.filter((one) => one.status === 'fulfilled')) await value[Symbol.asyncDispose]();
    const opened = await browser;
    if (opened) await awaited('the browser ends', opened.close());
  });
  const sharedOf = (kind: string, opened: Browser): Promise<Place> => {
    const known = places.get(kind) ?? newPlace(opened, shared);
    places.set(kind, known);
    return known;
  };
  return (guarantee, prove, { databases = testedKinds, isAlone = false, ...options } = {}) => {
    for (const kind of testedKinds.filter((tested) => databases.includes(tested))) {
      nodeTest(`${guarantee} (${kind})`, async (t) =>
        currentKind.run(kind, async () => {
          const opened = await (browser ??= openBrowser(t));
          if (!opened) return void (await openBrowser(t));
          await using own = isAlone ? await newPlace(opened, { ...shared, ...options }) : undefined;
          const { installation, contexts } = own ?? (await sharedOf(kind, opened));
          await using site = new ConsoleSite(installation, contexts);
          try {
            // The wait ends with the others of a test that does not end, so that it fails with the reports of its browsers.
            await awaited('the steps in the browser end', prove(site));
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
