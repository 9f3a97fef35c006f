/** The key page in a frame of a page of another site, and as a page of its own, in Chromium. */
import assert from 'node:assert/strict';
import type { Frame, Locator } from 'playwright-core';
import { until } from '../../server/test-kit/until.ts';
import { findUnreadable, findViolations } from './accessibility.ts';
import { consoleTests } from './kit/console-site.ts';
import { findOverflow } from './kit/layout.ts';
import { openHosted, type HostedPage } from './kit/portal-site.ts';

const test = consoleTests({
  environment: { KEYREEVE_API_URL: 'https://api.example.com', KEYREEVE_API_EXAMPLE: 'GET /orders' },
});
const options = { databases: ['sqlite'] } as const;

/** Longer than the pause before a second step. */
const pauseMs = 600;

const button = (frame: Frame, name: string): Locator => frame.getByRole('button', { name, exact: true });
const dialogOf = (frame: Frame): Locator => frame.getByRole('dialog');
const submitOf = (frame: Frame): Locator => dialogOf(frame).locator('[type=submit]');

async function submit({ page, frame, settle }: HostedPage): Promise<void> {
  await settle();
  await page.clock.fastForward(pauseMs);
  await submitOf(frame).click();
}

async function openCreation({ frame, settle }: HostedPage, nickname: string): Promise<void> {
  await button(frame, 'Create key').first().click();
  await dialogOf(frame).waitFor();
  await settle();
  await frame.getByLabel('Nickname').fill(nickname);
}

/** @returns the secret in the dialog, which stays open */
async function create(hosted: HostedPage, nickname: string): Promise<string> {
  await openCreation(hosted, nickname);
  await submit(hosted);
  return shownSecret(hosted);
}

const shownSecret = ({ frame }: HostedPage): Promise<string> =>
  frame.getByLabel('Secret', { exact: true }).inputValue();

async function closeSecret({ frame }: HostedPage): Promise<void> {
  await frame.getByLabel('I have stored it').check();
  await button(frame, 'Close').click();
  await dialogOf(frame).waitFor({ state: 'detached' });
}

const createKeys = async ({ backend }: HostedPage, site: { readonly app: TestAppLike }, bodies: readonly object[]) => {
  for (const json of bodies) {
    const { status, text } = await site.app.call('POST', `${backend.path}/api-keys`, {
      headers: backend.headers,
      json,
    });
    assert.equal(status, 201, text);
  }
};
type TestAppLike = Parameters<Parameters<typeof test>[1]>[0]['app'];

/** In the page: the time since its start can be set. */
const stoppedClock = `{
  const now = performance.now.bind(performance);
  performance.now = () => globalThis.stoppedAt ?? now();
}`;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const areApart = (one: Box, other: Box): boolean =>
  one.x + one.width <= other.x ||
  other.x + other.width <= one.x ||
  one.y + one.height <= other.y ||
  other.y + other.height <= one.y;

const idOf = (event: string | undefined): string => event?.split(' ')[1] ?? 'no key';

test(
  'a key is created, copied, rotated, changed and deleted in the frame, and the host learns its id only',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const secret = await create(hosted, 'billing worker');
    assert.match(secret, /^krv_/);
    assert.deepEqual(await hosted.events(), [], 'a host that reloads at the event does not destroy the secret');
    await dialogOf(frame).getByRole('button', { name: 'Copy Secret' }).click();
    await button(frame, 'Copied Secret').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
    await frame.getByRole('radio', { name: 'Python' }).check();
    await frame.getByText('os.environ["API_KEY"]').waitFor();
    await closeSecret(hosted);
    await until('the host learns of the key', async () => (await hosted.events()).length === 1);
    const id = idOf((await hosted.events())[0]);
    await button(frame, 'billing worker').click();
    await hosted.settle();

    await button(frame, 'Edit key').click();
    await frame.getByText('IP ranges and limits').click();
    await dialogOf(frame).getByLabel('Requests').first().fill('100');
    await submit(hosted);
    await frame.getByText('100 requests in 60 s, 100 at once').waitFor();

    await button(frame, 'Rotate secret').click();
    await submit(hosted);
    const rotated = await shownSecret(hosted);
    assert.notEqual(rotated, secret);
    await closeSecret(hosted);

    await button(frame, 'Delete key').click();
    await submit(hosted);
    await frame
      .getByText(/Rejected since/)
      .first()
      .waitFor();
    await until('the host learns of the deletion', async () => (await hosted.events()).length === 4);
    assert.deepEqual(await hosted.events(), [`created ${id}`, `changed ${id}`, `rotated ${id}`, `deleted ${id}`]);
    // Chromium denies the storage of frames of other sites to this page.
    const stored = `(() => {
      try { return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]); } catch { return 'denied'; }
    })()`;
    assert.match(String(await frame.evaluate(stored)), /^(?:denied|\[\{\},\{\},""\])$/);
    assert.equal(await frame.evaluate('location.hash'), '');
    assert.equal(await page.evaluate('history.length'), 2);
  },
  options,
);

test(
  'the second step of an operation accepts nothing in the first half second, and lies at another place than the first one',
  async (site) => {
    for (const width of [320, 1280]) {
      await using hosted = await openHosted(site, { width });
      const { page, visitor } = hosted;
      const script = await page.addInitScript({ content: stoppedClock });
      await hosted.load();
      const { frame } = hosted;
      const opener = button(frame, 'Create key').first();
      const first = await opener.boundingBox();
      await frame.evaluate('stoppedAt = performance.now()');
      await openCreation(hosted, 'second step');
      const second = await submitOf(frame).boundingBox();
      assert.ok(first && second && areApart(first, second), `${width}: ${JSON.stringify([first, second])}`);
      const creations = (): number => visitor.requests.filter((line) => line === 'POST /auth/portal/api-keys').length;
      await submitOf(frame).click();
      await frame.getByLabel('Nickname').press('Enter');
      await frame.evaluate('stoppedAt += 499');
      await submitOf(frame).click();
      await hosted.settle();
      assert.equal(creations(), 0);
      await frame.evaluate('stoppedAt += 1');
      await submitOf(frame).click();
      await frame.getByLabel('I have stored it').waitFor();
      assert.equal(creations(), 1);
      await script.dispose();
    }
  },
  options,
);

test(
  'a secret stays on the screen while the language changes and the session ends, and both follow its dialog',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { backend, visitor } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const secret = await create(hosted, 'kept');
    await hosted.set('lang', 'de');
    await hosted.set('theme', 'dark');
    await hosted.set('lang', 'not a language');
    await until(
      'the look has changed',
      async () => (await frame.evaluate('document.documentElement.dataset.theme')) === 'dark',
    );
    await hosted.set('lang', 'de-AT');
    visitor.expectStatus(401);
    visitor.expect(/the value of lang is not valid/);
    const [id] = hosted.sessions;
    const ended = await site.app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: backend.headers });
    assert.equal(ended.status, 204, ended.text);
    await frame.evaluate(`dispatchEvent(new Event('offline'))`);
    await hosted.page.clock.fastForward(3_000);
    await until('the page asks for its session', () => visitor.requests.includes('GET /auth/portal/session'));
    assert.equal(await shownSecret(hosted), secret);
    assert.deepEqual(await hosted.events(), []);
    await closeSecret(hosted);
    await until('the host is asked for a session', async () => (await hosted.events()).includes('ended'));
    const [created, end] = await hosted.events();
    assert.match(created ?? '', /^created \d+$/);
    assert.equal(end, 'ended');
    await frame.getByText('Ihre Sitzung ist beendet').waitFor();
    await hosted.page.clock.fastForward(11_000);
    await until('the element has a new session', () => hosted.sessions.length === 2);
    await hosted.shows('kept');
  },
  options,
);

test(
  'a key that is held down opens a dialog, and does not press its buttons',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page, visitor } = hosted;
    await hosted.load();
    await createKeys(hosted, site, [{ nickname: 'held' }]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'held').click();
    await hosted.settle();
    await button(frame, 'Rotate secret').focus();
    await page.keyboard.down('Enter');
    await dialogOf(frame).waitFor();
    await page.clock.fastForward(pauseMs);
    for (let i = 0; i < 3; i++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    assert.deepEqual(
      visitor.requests.filter((line) => line.includes('/rotate')),
      [],
    );
    await page.keyboard.press('Enter');
    await frame.getByLabel('I have stored it').waitFor();
    assert.equal(await frame.evaluate('document.activeElement.tagName'), 'H2', 'not the button that copies the secret');
  },
  options,
);

test(
  'the keyboard alone creates a key and deletes it',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const reach = async (target: Locator): Promise<void> => {
      for (let stops = 0; (await target.and(frame.locator(':focus')).count()) === 0; stops++) {
        assert.ok(stops < 60, `Tab does not reach ${String(target)}`);
        await page.keyboard.press('Tab');
      }
    };
    const press = async (target: Locator, key = 'Enter'): Promise<void> => {
      await reach(target);
      await page.keyboard.press(key);
    };
    await press(button(frame, 'Create key').first());
    await hosted.settle();
    await page.keyboard.type('by keyboard');
    await page.clock.fastForward(pauseMs);
    await press(submitOf(frame));
    await press(frame.getByLabel('I have stored it'), 'Space');
    await press(button(frame, 'Close'));
    await press(button(frame, 'by keyboard'));
    await hosted.settle();
    await press(button(frame, 'Delete key'));
    await hosted.settle();
    await page.clock.fastForward(pauseMs);
    await press(submitOf(frame));
    await frame.getByText('No API keys yet').waitFor();
  },
  options,
);

test(
  'the page offers what the session can do, and the server decides',
  async (site) => {
    for (const [capabilities, shown] of [
      [['read'], []],
      [
        ['read', 'create'],
        ['Create key', 'Edit key'],
      ],
      [['read', 'rotate'], ['Rotate secret']],
      [['read', 'limit'], ['Edit key']],
      [['read', 'delete'], ['Delete key']],
    ] as const) {
      await using hosted = await openHosted(site, { hasClock: true, request: { capabilities: [...capabilities] } });
      await hosted.load();
      await createKeys(hosted, site, [{ nickname: 'one' }]);
      await hosted.load();
      const { frame } = hosted;
      const names = ['Create key', 'Edit key', 'Rotate secret', 'Disable', 'Delete key'];
      const found = new Set<string>();
      const look = async (): Promise<void> => {
        for (const name of names) if (await button(frame, name).count()) found.add(name);
      };
      await look();
      await button(frame, 'one').click();
      await hosted.settle();
      await look();
      assert.deepEqual([...found].toSorted(), [...shown].toSorted(), capabilities.join());
      if (capabilities.length === 1) {
        await button(frame, 'All API keys').click();
        await frame.getByText('you cannot change them').waitFor();
      }
    }
    await using blind = await openHosted(site, { request: { capabilities: ['delete'] } });
    await blind.load();
    await blind.frame.getByText('You may not see the API keys here.').waitFor();
  },
  options,
);

test(
  'a key with more scopes than the session is not rotated, and only scopes of the session are offered',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true, request: { scopes: ['orders:read'] } });
    await hosted.load();
    await createKeys(hosted, site, [
      { nickname: 'within', scopes: ['orders:read'] },
      { nickname: 'beyond', scopes: ['orders:read', 'orders:write'] },
    ]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'beyond').click();
    await hosted.settle();
    assert.equal(await button(frame, 'Rotate secret').count(), 0);
    await button(frame, 'All API keys').click();
    await button(frame, 'within').click();
    await hosted.settle();
    assert.equal(await button(frame, 'Rotate secret').count(), 1);
    await button(frame, 'Edit key').click();
    await hosted.settle();
    const offered = `[...document.querySelectorAll('dialog input[type=checkbox]')].map(({ value }) => value)`;
    assert.deepEqual(await frame.evaluate(offered), ['orders:read']);
  },
  options,
);

test(
  'a token works once: a frame that is loaded again has no session, and the element gets a new one',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    const { frame } = hosted;
    await frame.evaluate('location.reload()');
    await until('the host is asked for a session', async () => (await hosted.events()).includes('ended'));
    await hosted.page.clock.fastForward(11_000);
    await until('the element has a new session', () => hosted.sessions.length === 2);
    await hosted.shows('No API keys yet');
  },
  options,
);

test(
  'an outage is shown, and the list returns after it',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page, visitor } = hosted;
    await hosted.load();
    const { frame } = hosted;
    visitor.expect(/ERR_FAILED|net::/);
    await page.route('**/auth/portal/**', (route) => route.abort());
    await createKeys(hosted, site, [{ nickname: 'later' }, { nickname: 'too' }]);
    await openCreation(hosted, 'offline');
    await submit(hosted).catch(() => undefined);
    await frame.getByText('The service cannot be reached. Check your network connection.').first().waitFor();
    await page.unroute('**/auth/portal/**');
    await frame.getByRole('button', { name: 'Close the dialog' }).click();
    await page.clock.fastForward(20_000);
    await button(frame, 'later').waitFor();
    assert.equal(await frame.getByRole('alert').count(), 0);
  },
  options,
);

test(
  'the page is accessible in both languages and schemes, and fits from 320 to 1920 px',
  async (site) => {
    for (const lang of ['en', 'de'] as const) {
      await using hosted = await openHosted(site, { hasClock: true, attributes: `lang="${lang}"` });
      const { page } = hosted;
      await hosted.load();
      await createKeys(hosted, site, [
        { nickname: `${'long '.repeat(10)}nickname`, scopes: ['orders:read', 'orders:write'] },
        { nickname: 'short', limits: { rate: { limit: 5, windowSeconds: 60 } } },
      ]);
      await hosted.load();
      const { frame } = hosted;
      assert.equal(await frame.evaluate('document.documentElement.lang'), lang);
      const check = async (what: string): Promise<void> => {
        await hosted.settle();
        assert.deepEqual(await findViolations(frame), [], `${what} in ${lang}`);
        await hosted.set('theme', 'dark');
        await until(
          'the scheme is dark',
          async () => (await frame.evaluate('document.documentElement.dataset.theme')) === 'dark',
        );
        assert.deepEqual(await findUnreadable(frame), [], `${what} in ${lang}, dark`);
        await hosted.set('theme', 'light');
        for (const width of [320, 375, 768, 1024, 1920]) {
          await page.setViewportSize({ width, height: 800 });
          assert.deepEqual(await findOverflow(frame), [], `${what} in ${lang} at ${width}`);
        }
        await page.setViewportSize({ width: 1280, height: 900 });
      };
      await check('the list');
      await button(frame, 'short').click();
      await check('a key');
      await frame.locator('header .actions .button').first().click();
      await check('the change of a key');
      await page.keyboard.press('Escape');
      await frame.locator('header .actions .button').nth(1).click();
      await check('the rotation');
      await submit(hosted);
      await check('the secret');
    }
  },
  options,
);

test(
  'the list is no higher than the element at its start, so that the page of the host does not move',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    await createKeys(
      hosted,
      site,
      Array.from({ length: 9 }, (_, n) => ({ nickname: `key ${n}`, scopes: ['orders:read'] })),
    );
    for (const width of [768, 1280]) {
      await hosted.page.setViewportSize({ width, height: 900 });
      await hosted.load();
      const { frame } = hosted;
      assert.equal(await frame.getByRole('row').count(), 7);
      const height = await frame.evaluate('document.body.getBoundingClientRect().height');
      assert.ok(Number(height) <= 576, `${height} px at ${width}`);
      for (const name of ['Nickname', 'Secret', 'Scopes', 'Last used', 'Expires', 'State'])
        assert.ok(await frame.getByRole('columnheader', { name }).isVisible(), `${name} at ${width}`);
    }
  },
  options,
);

test(
  'a page of its own leads back to the host, and goes back from a key to the list',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    await createKeys(hosted, site, [{ nickname: 'hosted' }]);
    const { backend, page, visitor } = hosted;
    const returnUrl = 'https://app.example.com/settings';
    const { json } = await site.app.call('POST', '/auth/portal-sessions', {
      headers: backend.headers,
      json: { externalId: backend.externalId, capabilities: ['read', 'create'], returnUrl },
    });
    const { url } = json as { readonly url: string };
    await page.goto(url.replace(/^.*(?=\/portal\/)/, site.origin));
    await page.locator('main h1').waitFor();
    assert.equal(await page.evaluate('location.hash'), '');
    const back = page.getByRole('link', { name: 'Back to app.example.com' });
    assert.equal(await back.getAttribute('href'), returnUrl);
    await page.getByRole('button', { name: 'hosted', exact: true }).click();
    await page.getByRole('heading', { name: 'hosted', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await visitor.settle();
    assert.deepEqual(await findViolations(page), []);
    await page.reload();
    await page.getByText('Your session has ended').waitFor();
  },
  options,
);
