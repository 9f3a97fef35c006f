/** The element in Chromium, with a page of another origin and site that stands for the key page. */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { openBrowser } from '../../server/test/e2e/browser.ts';
import { awaited, until } from '../../server/test-kit/until.ts';
import { buildElement } from '../build.ts';
import { sendPage, sendScript, WebServer } from './kit/web-server.ts';

let browser: Browser | undefined;
after(async () => {
  if (browser) await awaited('the browser ends', browser.close());
});

/** Records what it receives, and sends what a test says. */
const standIn = `<!doctype html><title>key page</title><script>
  window.received = [];
  addEventListener('message', ({ data, origin }) => received.push([origin, data]));
  const send = (message, target = '*') => parent.postMessage(message, target);
</script>`;

/** Sends messages, and leads to the URL in its query. */
const elsewhere = `<!doctype html><title>elsewhere</title><script>
  parent.postMessage({ keyreeve: 1, type: 'ready' }, '*');
  parent.postMessage({ keyreeve: 1, type: 'created', keyId: 6 }, '*');
  location.replace(new URLSearchParams(location.search).get('next'));
</script>`;

/** Runs before the scripts of the page: keeps closed shadow roots, and the events that reach the document. */
const record = `
  window.events = [];
  window.roots = [];
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    roots.push([options.mode, root]);
    return root;
  };
  for (const type of ['created', 'rotated', 'changed', 'deleted', 'ended'])
    addEventListener(type, ({ detail, cancelable }) => events.push([type, detail, cancelable]));`;

interface Opened extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly warnings: string[];
  /** Origins of the host and of the key page. */
  readonly host: string;
  readonly keys: string;
  /** Requests for the endpoint of the host. */
  loads(): number;
  /** The frame with the key page, when it has loaded. @param before the frame that it replaces */
  frame(before?: Frame): Promise<Frame>;
}

async function open(t: TestContext, tag: string, hasClock = false): Promise<Opened | undefined> {
  browser ??= await openBrowser(t);
  if (!browser) return void (await openBrowser(t));
  await using stack = new AsyncDisposableStack();
  const keys = stack.use(
    await WebServer.start((request, response) =>
      sendPage(response, request.url?.startsWith('/elsewhere') ? elsewhere : standIn),
    ),
  );
  const host = stack.use(
    await WebServer.start((request, response) => {
      if (request.url === '/keys.js') return sendScript(response, buildElement());
      if (request.url === '/frame')
        return void response.writeHead(302, { Location: `${keys.origin()}/portal/por_1#token` }).end();
      if (request.url?.startsWith('/elsewhere')) return sendPage(response, elsewhere);
      sendPage(response, `<!doctype html><html lang="de"><script type="module" src="/keys.js"></script>${tag}`);
    }),
  );
  const context = await browser.newContext();
  stack.defer(() => awaited('the browser context ends', context.close()));
  await context.addInitScript({ content: record });
  if (hasClock) await context.clock.install();
  const page = await context.newPage();
  const warnings: string[] = [];
  page.on('console', (message) => void warnings.push(`${message.type()}: ${message.text()}`));
  await page.goto(`${host.origin('localhost')}/`);
  const find = (before?: Frame): Frame | undefined =>
    page.frames().find((frame) => frame.url().startsWith(keys.origin()) && !frame.isDetached() && frame !== before);
  const opened = stack.move();
  return {
    context,
    page,
    warnings,
    host: host.origin('localhost'),
    keys: keys.origin(),
    loads: () => host.requests.filter(({ line }) => line === 'GET /frame').length,
    frame: async (before) => {
      await until('the frame has loaded', () => find(before) !== undefined);
      const frame = find(before)!;
      await frame.waitForLoadState();
      return frame;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const send = (frame: Frame, message: object, target = '*'): Promise<unknown> =>
  frame.evaluate(`send(${JSON.stringify(message)}, '${target}')`);
const received = (frame: Frame): Promise<unknown[]> => frame.evaluate('received');
const message = (type: string, more: object = {}): object => ({ keyreeve: 1, type, ...more });
const inFrame = (page: Page, expression: string): Promise<unknown> =>
  page.evaluate(`(() => { const frame = roots[0][1].querySelector('iframe'); return ${expression}; })()`);

test('the element shows the page in a frame of a closed root, and sends the look to its origin', async (t) => {
  const attributes = 'theme="dark" accent="#0a7" text="red" radius="8" font="Inter, A" density="compact"';
  await using at = await open(t, `<keyreeve-keys src="/frame" ${attributes}></keyreeve-keys>`);
  if (!at) return;
  const { page, host } = at;
  const frame = await at.frame();
  assert.deepEqual(await inFrame(page, '[roots.length, roots[0][0], frame.title, frame.referrerPolicy, frame.allow]'), [
    1,
    'closed',
    'API-Schlüssel',
    'no-referrer',
    'clipboard-write *',
  ]);
  assert.equal(await frame.evaluate('document.referrer'), '');
  assert.equal(await frame.evaluate(`document.featurePolicy.allowsFeature('clipboard-write')`), true);
  assert.deepEqual(await received(frame), []);
  await send(frame, message('ready'), host);
  await until('the look has arrived', async () => (await received(frame)).length > 0);
  const look = { theme: 'dark', lang: 'de', accent: '#0a7', radius: 8, font: 'Inter, A', density: 'compact' };
  assert.deepEqual(await received(frame), [[host, { keyreeve: 1, type: 'look', ...look }]]);
  assert.deepEqual(at.warnings, ['warning: keyreeve-keys: the value of text is not valid: red']);
  await page.evaluate(`document.querySelector('keyreeve-keys').setAttribute('theme', 'light')`);
  await until('the new look has arrived', async () => (await received(frame)).length > 1);
  assert.deepEqual((await received(frame))[1], [host, { keyreeve: 1, type: 'look', ...look, theme: 'light' }]);
  assert.equal(at.loads(), 1);
});

test('the frame has the height of its content, and the host gets events without secrets', async (t) => {
  await using at = await open(t, `<keyreeve-keys src="/frame"></keyreeve-keys>`);
  if (!at) return;
  const { page } = at;
  const frame = await at.frame();
  const remPx = 16;
  assert.equal(await inFrame(page, 'frame.clientHeight'), 36 * remPx);
  await send(frame, message('ready'));
  await send(frame, message('height', { px: 900 }));
  for (const type of ['created', 'rotated', 'changed', 'deleted']) await send(frame, message(type, { keyId: 7 }));
  await until('the events have arrived', async () => ((await page.evaluate('events.length')) as number) === 4);
  assert.deepEqual(
    await page.evaluate('events'),
    ['created', 'rotated', 'changed', 'deleted'].map((type) => [type, { keyId: 7 }, false]),
  );
  assert.equal(await inFrame(page, 'frame.clientHeight'), 900);
});

test('messages of other windows, of other origins, of other forms and before the first one have no effect', async (t) => {
  await using at = await open(t, `<keyreeve-keys src="/frame"></keyreeve-keys>`);
  if (!at) return;
  const { page, keys } = at;
  const frame = await at.frame();
  await send(frame, message('created', { keyId: 1 }));
  await send(frame, message('height', { px: 1 }));
  await send(frame, message('ready'));
  await until('the look has arrived', async () => (await received(frame)).length > 0);

  // The same origin in another frame, and the host itself.
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('iframe'), { src: '${keys}/other' }))`,
  );
  await until('the other frame has loaded', () => page.frames().some((each) => each.url().endsWith('/other')));
  const other = page.frames().find((each) => each.url().endsWith('/other'))!;
  await other.waitForLoadState();
  for (const each of [message('created', { keyId: 2 }), message('height', { px: 2 }), message('ready')]) {
    await send(other, each);
    await page.evaluate(`postMessage(${JSON.stringify(each)}, '*')`);
  }
  for (const each of [
    message('created', { keyId: 3, secret: 'krv_x' }),
    message('created'),
    message('look', { theme: 'dark' }),
    { type: 'created', keyId: 4 },
  ])
    await send(frame, each);
  await send(frame, message('deleted', { keyId: 5 }));
  await until('the last message has arrived', async () => ((await page.evaluate('events.length')) as number) > 0);
  assert.deepEqual(await page.evaluate('events'), [['deleted', { keyId: 5 }, false]]);
  assert.equal(await inFrame(page, 'frame.style.height'), '');
  assert.deepEqual(await received(other), []);
  assert.equal((await received(frame)).length, 1);

  // The frame leaves for another origin: for the host's own, and for one that is not that of the first message.
  const steps = [`${at.host}/elsewhere`, `${keys.replace('127.0.0.1', 'localhost')}/elsewhere`];
  const way = steps.reduceRight((next, step) => `${step}?next=${encodeURIComponent(next)}`, `${keys}/back`);
  await frame.evaluate(`void (location.href = ${JSON.stringify(way)})`);
  await until('the frame is back', () => page.frames().some((each) => each.url().endsWith('/back')));
  const back = page.frames().find((each) => each.url().endsWith('/back'))!;
  await back.waitForLoadState();
  await send(back, message('deleted', { keyId: 8 }));
  await until('the last message has arrived', async () => ((await page.evaluate('events.length')) as number) > 1);
  assert.deepEqual(await page.evaluate('events'), [
    ['deleted', { keyId: 5 }, false],
    ['deleted', { keyId: 8 }, false],
  ]);
});

test('a page of the origin of the host is not taken for the key page', async (t) => {
  await using at = await open(t, '');
  if (!at) return;
  const { page, host, keys } = at;
  await page.evaluate(`customElements.whenDefined('keyreeve-keys')`);
  const src = `${host}/elsewhere?next=${encodeURIComponent(`${keys}/portal/por_1`)}`;
  await page.evaluate(`(() => {
    const keys = document.createElement('keyreeve-keys');
    keys.setAttribute('src', ${JSON.stringify(src)});
    document.body.append(keys);
  })()`);
  const frame = await at.frame();
  await send(frame, message('ready'));
  await send(frame, message('created', { keyId: 1 }));
  await until('the event has arrived', async () => ((await page.evaluate('events.length')) as number) > 0);
  assert.deepEqual(await page.evaluate('events'), [['created', { keyId: 1 }, false]]);
});

test('a page that requests new sessions gets at most one in 10 seconds, unless a listener prevents it', async (t) => {
  await using at = await open(t, `<keyreeve-keys src="/frame"></keyreeve-keys>`, true);
  if (!at) return;
  const { page, context } = at;
  const first = await at.frame();
  await send(first, message('ready'));
  for (const type of ['ended', 'reload', 'ended']) await send(first, message(type));
  await until('the events have arrived', async () => ((await page.evaluate('events.length')) as number) === 3);
  assert.deepEqual(await page.evaluate('events[0]'), ['ended', null, true]);
  assert.equal(at.loads(), 1);
  await context.clock.runFor(10_000);
  await until('the endpoint is asked again', () => at.loads() === 2);
  await until('the first frame has gone', () => first.isDetached());
  assert.equal(await inFrame(page, `roots[0][1].querySelectorAll('iframe').length`), 1);

  // The element waits after each load. After this time, a request loads a session at once.
  const second = await at.frame(first);
  await send(second, message('ready'));
  await context.clock.runFor(10_000);
  assert.equal(at.loads(), 2);
  await send(second, message('reload'));
  await until('the endpoint is asked again', () => at.loads() === 3);

  const third = await at.frame(second);
  await send(third, message('ready'));
  await page.evaluate(`addEventListener('ended', (event) => event.preventDefault())`);
  const count = await page.evaluate('events.length');
  await send(third, message('ended'));
  await until('the event has arrived', async () => (await page.evaluate('events.length')) !== count);
  await context.clock.runFor(60_000);
  assert.equal(at.loads(), 3);
});

test('a new src loads at once, and an element that moves has one frame', async (t) => {
  await using at = await open(t, `<div id="a"></div><div id="b"></div>`);
  if (!at) return;
  const { page } = at;
  await page.evaluate(`customElements.whenDefined('keyreeve-keys')`);
  await page.evaluate(`(() => {
    const keys = document.createElement('keyreeve-keys');
    document.querySelector('#a').append(keys);
    keys.setAttribute('src', '/frame');
  })()`);
  const first = await at.frame();
  assert.equal(at.loads(), 1);
  await page.evaluate(`document.querySelector('#b').append(document.querySelector('keyreeve-keys'))`);
  await until('the endpoint is asked again', () => at.loads() === 2);
  const frame = await at.frame(first);
  await send(frame, message('ready'));
  await until('the look has arrived', async () => (await received(frame)).length > 0);
  assert.equal(await inFrame(page, `roots[0][1].querySelectorAll('iframe').length`), 1);
  await page.evaluate(`document.querySelector('keyreeve-keys').remove()`);
  await until('the frame has gone', () => page.frames().length === 1);
});

test('the URL of a session is loaded once, and a URL that is a script is not loaded', async (t) => {
  await using at = await open(t, `<keyreeve-keys src="/frame"></keyreeve-keys>`, true);
  if (!at) return;
  const { page, context, keys } = at;
  await at.frame();
  const set = (name: string, value: string): Promise<unknown> =>
    page.evaluate(`document.querySelector('keyreeve-keys').setAttribute('${name}', ${JSON.stringify(value)})`);
  await set('session', `${keys}/portal/por_2#token`);
  await until('the session has loaded', () => page.frames().some((each) => each.url().includes('por_2')));
  const frame = page.frames().find((each) => each.url().includes('por_2'))!;
  await frame.waitForLoadState();
  await send(frame, message('ready'));
  await send(frame, message('ended'));
  await until('the event has arrived', async () => ((await page.evaluate('events.length')) as number) === 1);
  await context.clock.runFor(60_000);
  assert.deepEqual([at.loads(), frame.isDetached()], [1, false]);
  for (const url of ['javascript:parent.attacked=1', 'data:text/html,x', 'http://', 'about:blank']) {
    await set('session', url);
    await until('the frame has gone', () => page.frames().length === 1);
  }
  assert.equal(await page.evaluate('window.attacked'), undefined);
});
