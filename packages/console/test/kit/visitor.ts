/**
 * One browser context with one page or more, as a person has it. It records everything that must not happen on any page:
 * messages of the browser, violations of the content security policy, requests to other origins, tokens in responses.
 */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, ConsoleMessage, Frame, Locator, Page, Request, Response } from 'playwright-core';
import type { Protocol } from '../../../server/test-kit/virtual-authenticator.ts';
import { isWithin, within } from './within.ts';

/** Bounds one step in the browser. It only stands for a hang: on a busy machine, a step takes many seconds. */
const stepMsMax = 120_000;
/** Bounds the wait for a body whose page has been left: most of them never end. */
const leftBodyMsMax = 30_000;

export interface VisitorOptions {
  /** BCP 47. */
  readonly locale?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** In the page: reports violations of the policy as messages. */
const reportViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy violation:', violatedDirective, blockedURI));`;

/** Access tokens are JWTs. */
const tokenPattern = /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+|\bkrvr_\w+/;

/** The body of a response, which is searched for tokens. */
interface Body {
  readonly url: string;
  readonly page: Page | undefined;
  /** How many documents the page had loaded at the time of the request. */
  readonly documents: number;
  readonly searched: Promise<void>;
}

export class Visitor implements AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly origin: string;
  /** `method path` of each request, in order, without the files of the console. */
  readonly requests: string[] = [];
  /** What must not happen, and messages that a test expects. */
  readonly faults: string[] = [];
  readonly #bodies: Body[] = [];
  /** By page: how many documents it has loaded. */
  readonly #documents = new Map<Page, number>();
  /** Pages that have requested a document, and still show the one before it. */
  readonly #leaving = new Set<Page>();
  /** By request: how many documents its page had loaded. */
  readonly #origins = new WeakMap<Request, number>();
  readonly #expected: RegExp[] = [];

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.context = context;
    this.page = page;
    this.origin = origin;
  }

  static async open(browser: Browser, origin: string, options: VisitorOptions = {}): Promise<Visitor> {
    const { locale = 'en-US', colorScheme = 'light', width = 1280, height = 900 } = options;
    const opening = browser.newContext({
      baseURL: origin,
      locale,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const context = await within('a new browser context', stepMsMax, opening);
    context.setDefaultTimeout(stepMsMax);
    const page = await within('a new page', stepMsMax, context.newPage());
    const visitor = new Visitor(context, page, origin);
    await within('the start of the record', stepMsMax, visitor.#record());
    return visitor;
  }

  /** Opens a second tab. */
  openTab(): Promise<Page> {
    return within('a second tab', stepMsMax, this.context.newPage());
  }

  /** The protocol of Chromium for the page. The default timeout does not bound its commands, so each has the bound of a step. */
  async openProtocol(): Promise<Protocol> {
    const session = await within('a session of the protocol', stepMsMax, this.context.newCDPSession(this.page));
    return {
      send: (method, ...parameters) =>
        within(`${method} at ${this.page.url()}`, stepMsMax, session.send(method, ...parameters)),
    };
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
    await Promise.all(this.#bodies.map((body) => this.#wait(body)));
    const unexpected = this.faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(unexpected, [], 'messages of the browser, violations of the policy, foreign requests and tokens');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within('the end of the browser context', stepMsMax, this.context.close());
  }

  async #record(): Promise<void> {
    // As a message, because the page forgets its variables when another document is loaded.
    await this.context.addInitScript({ content: reportViolations });
    this.context.on('console', (message: ConsoleMessage) => {
      this.faults.push(`${message.type()}: ${message.text()} ${message.location().url}`);
    });
    this.context.on('weberror', (error) => void this.faults.push(`error: ${error.error().stack}`));
    this.context.on('request', (request: Request) => this.#onRequest(request));
    this.context.on('response', (response: Response) => this.#onResponse(response));
    this.context.on('framenavigated', (frame: Frame) => this.#onNavigated(frame));
  }

  #onRequest(request: Request): void {
    const { origin, protocol, pathname } = new URL(request.url());
    if (origin !== this.origin || protocol === 'blob:') this.faults.push(`foreign request: ${request.url()}`);
    if (!pathname.startsWith('/console/assets/')) this.requests.push(`${request.method()} ${pathname}`);
    const page = pageOf(request);
    this.#origins.set(request, this.#documentsOf(page));
    if (page && request.isNavigationRequest() && request.frame() === page.mainFrame()) this.#leaving.add(page);
  }

  /** Also called when a script changes the URL of a document. */
  #onNavigated(frame: Frame): void {
    const page = frame.page();
    if (frame === page.mainFrame() && this.#leaving.delete(page))
      this.#documents.set(page, this.#documentsOf(page) + 1);
  }

  #documentsOf(page: Page | undefined): number {
    return page ? (this.#documents.get(page) ?? 0) : 0;
  }

  #onResponse(response: Response): void {
    if (!/json/.test(response.headers()['content-type'] ?? '')) return;
    const request = response.request();
    const page = pageOf(request);
    this.#bodies.push({
      url: response.url(),
      page,
      // Not those of this moment: the response may arrive after the page has requested the next document.
      documents: this.#origins.get(request) ?? this.#documentsOf(page),
      searched: this.#search(response),
    });
  }

  async #search(response: Response): Promise<void> {
    // A body is no longer available if the page has been left.
    const body = await response.text().catch(() => '');
    if (tokenPattern.test(body)) this.faults.push(`token in the response of ${response.url()}`);
  }

  /** If a test leaves the page before a body ends, Playwright waits for the end of the body without a time limit. */
  async #wait({ url, page, documents, searched }: Body): Promise<void> {
    const isLeft = (): boolean => documents !== this.#documentsOf(page);
    if (await isWithin(isLeft() ? leftBodyMsMax : stepMsMax, searched)) return;
    if (!isLeft()) this.faults.push(`no end of the response of ${url}`);
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
