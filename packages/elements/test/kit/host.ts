/**
 * The service, and a product of another origin and site whose page shows the key page: as plain HTML, with React 19, with a strict content
 * security policy, and with ten other widgets.
 */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { newInstallation, type Installation } from '../../../console/test/kit/installation.ts';
import { originOf } from '../../../console/test/kit/console-site.ts';
import { newPortalBackend, type PortalBackend } from '../../../server/test-kit/portal.ts';
import { frameworks } from './frameworks.ts';
import { sendPage, sendScript, WebServer } from './web-server.ts';

export const hostKinds = ['plain', 'react', 'strict', 'widgets'] as const;
export type HostKind = (typeof hostKinds)[number];

/** Of the host: the endpoint that redirects its frame. */
export const address = '/api-keys/frame';
const element = `<keyreeve-keys src="${address}"></keyreeve-keys>`;

const events = `window.events = [];
for (const type of ['created', 'rotated', 'changed', 'deleted', 'ended'])
  addEventListener(type, ({ detail }) => events.push(type + (detail ? ' ' + detail.keyId : '')));`;

const react = `import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import '${join(import.meta.dirname, '../../src/element.ts')}';

function Settings() {
  const [created, setCreated] = useState([]);
  const add = ({ detail }) => setCreated((ids) => [...ids, detail.keyId]);
  return (
    <>
      <p id="created">{created.join()}</p>
      <keyreeve-keys src="${address}" theme={created.length > 0 ? 'dark' : 'light'} radius={4} oncreated={add} />
    </>
  );
}
createRoot(document.querySelector('#root')).render(<Settings />);`;

/** As the README says. */
const style = 'keyreeve-keys { display: block; min-height: 36rem; }';

/** Others of the page, which send messages of the key page's form, change styles, and take every event. */
const widgets = Array.from(
  { length: 10 },
  (_, index) => `<div class="widget" id="w${index}"><iframe src="/widget"></iframe></div>`,
).join('');
const widgetStyle = `<style>
  * { box-sizing: border-box; margin: 0; font: 20px serif; color: lime; }
  iframe { display: none !important; height: 1px; }
  .widget { position: fixed; z-index: 99999; width: 1px; height: 1px; }
</style>`;
const widgetScript = `<script>
  for (const type of ['click', 'keydown', 'focusin'])
    addEventListener(type, (event) => event.stopImmediatePropagation(), false);
  window.customElements.define('other-widget', class extends HTMLElement {});
</script>`;
const widgetFrame = `<!doctype html><script>
  for (const message of [
    { keyreeve: 1, type: 'ready' },
    { keyreeve: 1, type: 'height', px: 1 },
    { keyreeve: 1, type: 'created', keyId: 666 },
    { keyreeve: 1, type: 'ended' },
    'other', 7, null, { type: 'height' },
  ]) parent.postMessage(message, '*');
  addEventListener('message', () => parent.postMessage({ keyreeve: 1, type: 'ended' }, '*'));
</script>`;

export interface HostOptions {
  /** Before all other scripts of the page. */
  readonly isHostile?: boolean;
  /** In place of the element, with the URL of a session. */
  readonly content?: (url: string) => string;
}

export class Host implements AsyncDisposable {
  readonly backend: PortalBackend;
  readonly installation: Installation;
  /** URLs of the portal sessions, in order. */
  readonly sessions: string[] = [];
  readonly #server: WebServer;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    installation: Installation,
    backend: PortalBackend,
    server: WebServer,
    parts: AsyncDisposableStack,
  ) {
    this.#parts = parts;
    this.installation = installation;
    this.backend = backend;
    this.#server = server;
  }

  static async start(kind: HostKind, options: HostOptions = {}): Promise<Host> {
    await using stack = new AsyncDisposableStack();
    const installation = stack.use(await newInstallation());
    const backend = await newPortalBackend(installation.app);
    const server = stack.use(
      await WebServer.start(async ({ url = '', headers }, response) => {
        if (url.split('?')[0] === address)
          return host.#redirect(headers['sec-fetch-dest'], headers['sec-fetch-site'], response);
        if (url === '/events.js') return sendScript(response, events);
        if (url === '/hostile.js') return sendScript(response, hostileScript());
        if (url === '/style.css')
          return void response.writeHead(200, { 'Content-Type': 'text/css', ...isolation }).end(style);
        if (url === '/react.js') return sendScript(response, reactScript());
        if (url === '/service-worker.js') return sendScript(response, serviceWorker);
        if (url === '/widget') return sendPage(response, widgetFrame, isolation);
        const session = options.content ? await host.newSession() : '';
        const [html, policy] = host.#pageOf(kind, options, session);
        sendPage(response, html, policy);
      }),
    );
    const host: Host = new Host(installation, backend, server, stack.move());
    return host;
  }

  /** Of the product: not the same site as the service. */
  get origin(): string {
    return this.#server.origin(new URL(this.service).hostname === 'localhost' ? '127.0.0.1' : 'localhost');
  }

  get service(): string {
    return originOf(this.installation);
  }

  get requests(): readonly string[] {
    return this.#server.requests.map(({ line }) => line);
  }

  /** @returns the URL of a new portal session for this origin */
  async newSession(): Promise<string> {
    const { url } = await this.backend.create({ origin: this.origin });
    this.sessions.push(url);
    return url;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }

  /** As the examples do it. */
  async #redirect(dest: unknown, site: unknown, response: ServerResponse): Promise<void> {
    if (dest !== 'iframe' || site !== 'same-origin')
      return void response.writeHead(403, { 'Cache-Control': 'no-store', ...isolation }).end('refused');
    response.writeHead(302, { Location: await this.newSession(), 'Cache-Control': 'no-store', ...isolation }).end();
  }

  #pageOf(
    kind: HostKind,
    { isHostile, content }: HostOptions,
    session: string,
  ): [html: string, headers: Readonly<Record<string, string>>] {
    const script = `<script type="module" src="${this.service}/portal/keys.js"></script>`;
    const own = kind === 'react' ? `<div id="root"></div><script src="/react.js"></script>` : element + script;
    const html = `<!doctype html><html lang="en"><head><meta charset="utf-8" /><title>Settings</title>
<link rel="icon" href="data:," /><link rel="stylesheet" href="/style.css" />
${isHostile ? '<script src="/hostile.js"></script>' : ''}<script src="/events.js"></script>
${kind === 'widgets' ? widgetStyle + widgetScript : ''}</head><body><h1>Settings</h1>
${content ? content(session) + script : own}<p>below</p>${kind === 'widgets' ? widgets : ''}</body></html>`;
    return [html, kind === 'strict' ? strictHeaders(this.service) : {}];
  }
}

/** So that the strict page can load what the host serves. */
const isolation = {
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const strictHeaders = (service: string): Readonly<Record<string, string>> => ({
  ...isolation,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Content-Security-Policy': [
    `default-src 'none'; style-src 'self'; script-src 'self' ${service}; frame-src 'self' ${service}; img-src data:`,
    `base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  ].join('; '),
  'Permissions-Policy': `clipboard-write=(self "${service}"), clipboard-read=()`,
});

const hostileScript = (): string => readFileSync(join(import.meta.dirname, 'hostile-script.js'), 'utf8');

/** Forwards every request, and sends the page what it can read of the responses. */
const serviceWorker = `
  addEventListener('install', () => skipWaiting());
  addEventListener('activate', (event) => event.waitUntil(clients.claim()));
  const tell = async (...values) => {
    for (const client of await clients.matchAll({ includeUncontrolled: true })) client.postMessage(values.map(String));
  };
  const read = async (what, response) =>
    tell(what, response.type, response.status, response.url, response.redirected, JSON.stringify([...response.headers]));
  addEventListener('fetch', (event) => event.respondWith((async () => {
    const { request } = event;
    await tell('worker', request.url, request.destination, request.mode);
    if (request.destination === 'iframe')
      for (const options of [{ redirect: 'follow' }, { redirect: 'manual' }, { mode: 'no-cors', redirect: 'follow' }])
        await fetch(request.url, options).then((response) => read('own', response), (error) => tell('own', error));
    const response = await fetch(request);
    await read('forwarded', response);
    return response;
  })()));`;

function reactScript(): string {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: react, loader: 'jsx', resolveDir: import.meta.dirname },
    nodePaths: [frameworks],
    bundle: true,
    write: false,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
