/**
 * One browser context with one page or more, as a person has it. It records everything that must not happen on any page:
 * messages of the browser, violations of the content security policy, requests to other origins, tokens in responses.
 */
import assert from 'node:assert/strict';
import type {
  Browser,
  BrowserContext,
  CDPSession,
  ConsoleMessage,
  Dialog,
  Frame,
  Locator,
  Page,
  Request,
  Response,
  WebError,
} from 'playwright-core';
import { awaited, until } from '../../../server/test-kit/until.ts';
import type { Protocol } from '../../../server/test-kit/virtual-authenticator.ts';
import { BrowserContexts, type UsedContext } from './browser-contexts.ts';

/** Access tokens are JWTs. */
const tokenPattern = /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+|\bkrvr_\w+/;

/** The body of a response, which is searched for tokens. */
interface Body {
  readonly url: string;
  readonly page: Page | undefined;
  /** How many documents the page had loaded at the time of the request. */
  readonly documents: number;
  readonly request: Request;
  isSearched: boolean;
}

export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly origin: string;
  /** `method path` of each request, in order, without the files of the console. */
  readonly requests: string[] = [];
  /** What must not happen, and messages that a test expects. */
  readonly faults: string[] = [];
  readonly #bodies: Body[] = [];
  /** Requests whose responses have arrived completely. */
  readonly #finished = new WeakSet<Request>();
  /** By page: how many documents it has loaded. */
  readonly #documents = new Map<Page, number>();
  /** Pages that have requested a document, and still show the one before it. */
  readonly #leaving = new Set<Page>();
  /** By request: how many documents its page had loaded. */
  readonly #origins = new WeakMap<Request, number>();
  readonly #expected: RegExp[] = [];
  readonly #protocols: CDPSession[] = [];

  constructor({ context, page }: UsedContext, origin: string) {
    this.context = context;
    this.page = page;
    this.origin = origin;
    context.on('console', this.#onMessage);
    context.on('weberror', this.#onError);
    context.on('dialog', this.#onDialog);
    context.on('request', this.#onRequest);
    context.on('requestfinished', this.#onFinished);
    context.on('response', this.#onResponse);
    context.on('framenavigated', this.#onNavigated);
  }

  /** In a context of its own, which ends with the browser. */
  static async open(browser: Browser, origin: string): Promise<Visitor> {
    return new Visitor(await new BrowserContexts(browser, origin).take(), origin);
  }

  /** Ends the record. The context can have another visitor afterwards. */
  async leave(): Promise<void> {
    const { context } = this;
    context.off('console', this.#onMessage);
    context.off('weberror', this.#onError);
    context.off('dialog', this.#onDialog);
    context.off('request', this.#onRequest);
    context.off('requestfinished', this.#onFinished);
    context.off('response', this.#onResponse);
    context.off('framenavigated', this.#onNavigated);
    for (const protocol of this.#protocols) await awaited('a session of the protocol ends', protocol.detach());
  }

  /** Opens a second tab. */
  openTab(): Promise<Page> {
    return awaited('a second tab is open', this.context.newPage());
  }

  /** The protocol of Chromium for the page. What it has added, such as an authenticator, ends with the visit. */
  async openProtocol(): Promise<Protocol> {
    const session = await awaited('a session of the protocol begins', this.context.newCDPSession(this.page));
    this.#protocols.push(session);
    return { send: (method, ...rest) => awaited(`${method} has a response`, session.send(method, ...rest)) };
  }

  /** Opens a path and waits until the page has its heading and its data. */
  async goto(path: string, page = this.page): Promise<void> {
    await page.goto(path);
    await this.settle(page);
  }

  async settle(page = this.page): Promise<void> {
    await page.locator('h1').waitFor();
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  }

  /** Allows messages of the browser in this test, such as those about a lost network. */
  expect(...messages: readonly RegExp[]): void {
    this.#expected.push(...messages);
  }

  /** Allows the message that Chromium logs for each response with such a status. */
  expectStatus(...statuses: readonly number[]): void {
    this.expect(...statuses.map((status) => new RegExp(`status of ${status} `)));
  }

  /** The URLs of the pages and the last requests, for the diagnosis of a failed test. */
  get state(): string {
    const urls = this.context.pages().map((page) => page.url());
    return `at ${urls.join(', ')} after ${this.requests.slice(-8).join(', ')}`;
  }

  /** @throws AssertionError if something happened that must not happen on any page */
  async assertClean(): Promise<void> {
    for (const body of this.#bodies)
      await until(`the response of ${body.url} has ended`, () => body.isSearched || this.#isCancelled(body));
    const unexpected = this.faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(unexpected, [], 'messages of the browser, violations of the policy, foreign requests and tokens');
  }

  readonly #onMessage = (message: ConsoleMessage): void => {
    this.faults.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  };

  readonly #onError = (error: WebError): void => void this.faults.push(`error: ${error.error().stack}`);

  /** The console opens no dialogs of the browser, so a script of another person ran. */
  readonly #onDialog = (dialog: Dialog): void => {
    this.faults.push(`dialog: ${dialog.message()}`);
    // The page may have been closed.
    void dialog.dismiss().catch(() => undefined);
  };

  readonly #onRequest = (request: Request): void => {
    const { origin, protocol, pathname } = new URL(request.url());
    if (origin !== this.origin || protocol === 'blob:') this.faults.push(`foreign request: ${request.url()}`);
    if (!pathname.startsWith('/console/assets/')) this.requests.push(`${request.method()} ${pathname}`);
    const page = pageOf(request);
    this.#origins.set(request, this.#documentsOf(page));
    if (page && request.isNavigationRequest() && request.frame() === page.mainFrame()) this.#leaving.add(page);
  };

  readonly #onFinished = (request: Request): void => void this.#finished.add(request);

  /** Also called when a script changes the URL of a document. */
  readonly #onNavigated = (frame: Frame): void => {
    const page = frame.page();
    if (frame === page.mainFrame() && this.#leaving.delete(page))
      this.#documents.set(page, this.#documentsOf(page) + 1);
  };

  readonly #onResponse = (response: Response): void => {
    if (!/json/.test(response.headers()['content-type'] ?? '')) return;
    const request = response.request();
    const page = pageOf(request);
    const body: Body = {
      url: response.url(),
      page,
      // Not those of this moment: the response may arrive after the page has requested the next document.
      documents: this.#origins.get(request) ?? this.#documentsOf(page),
      request,
      isSearched: false,
    };
    this.#bodies.push(body);
    void this.#search(response).then(() => (body.isSearched = true));
  };

  #documentsOf(page: Page | undefined): number {
    return page ? (this.#documents.get(page) ?? 0) : 0;
  }

  async #search(response: Response): Promise<void> {
    // A body is no longer available if the page has been left.
    const body = await response.text().catch(() => '');
    if (tokenPattern.test(body)) this.faults.push(`token in the response of ${response.url()}`);
  }

  /** If the page is left before the body has arrived, Playwright waits for the end of the body forever. */
  #isCancelled({ page, documents, request }: Body): boolean {
    return (page?.isClosed() || documents !== this.#documentsOf(page)) && !this.#finished.has(request);
  }
}

/** @returns undefined for the first request of a page that has no frame yet */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}

/** The focused element, also inside a dialog. */
export const focused = (page: Page): Locator => page.locator('*:focus');
