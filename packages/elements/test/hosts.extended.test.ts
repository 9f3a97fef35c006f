/** The key page in the pages of hosts of another origin and site, in Chromium. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../server/test-kit/until.ts';
import { redeem, tokenOf } from '../../server/test-kit/portal.ts';
import { Host, hostKinds } from './kit/host.ts';
import { openHostBrowser } from './kit/host-browser.ts';
import { hasFrameworks } from './kit/frameworks.ts';
import { sendPage, WebServer } from './kit/web-server.ts';

/** In the host: how much of it has moved without an action of the person. */
const shifts = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
})`;

for (const kind of hostKinds)
  test(`a person creates, copies and finds a key in a page of the kind “${kind}”, and the host gets its id`, async (t) => {
    if (kind === 'react' && !hasFrameworks(t)) return;
    await using host = await Host.start(kind);
    await using browser = await openHostBrowser(t, host);
    if (!browser) return;
    const { page, frame } = (await browser.open(), browser);
    assert.equal(await page.evaluate(shifts), 0);
    const secret = await browser.create('billing worker');
    assert.match(secret, /^krv_/);
    await frame.getByRole('dialog').getByRole('button', { name: 'Copy Secret' }).click();
    await browser.button('Copied Secret').waitFor();
    assert.deepEqual(await browser.events(), []);
    await browser.closeSecret();
    await until('the host gets the event', async () => (await browser.events()).length === 1);
    const { app } = host.installation;
    const listed = await app.call('GET', `${host.backend.path}/api-keys`, { headers: host.backend.headers });
    const [key, ...more] = (listed.json as { apiKeys: { id: number; nickname: string }[] }).apiKeys;
    assert.deepEqual([key?.nickname, more], ['billing worker', []]);
    assert.deepEqual(await browser.events(), [`created ${key?.id}`]);
    await browser.button('billing worker').waitFor();
    if (kind === 'react') {
      await page.getByText(String(key?.id), { exact: true }).waitFor();
      await until(
        'the key page has the theme that React set',
        async () => (await frame.evaluate('getComputedStyle(document.documentElement).colorScheme')) === 'dark',
      );
    }
    assert.equal(host.sessions.length, 1);
    assert.deepEqual(browser.messages, []);
  });

test('a page of another origin, also one around the host, cannot show the frame', async (t) => {
  await using host = await Host.start('plain');
  await using other = await WebServer.start(({ url = '' }, response) =>
    sendPage(
      response,
      `<!doctype html><title>other</title><iframe src="${decodeURIComponent(url.slice(2))}"></iframe>`,
    ),
  );
  await using browser = await openHostBrowser(t, host);
  if (!browser) return;
  const { page } = browser;
  const session = await host.newSession();
  for (const shown of [session, `${host.origin}/`]) {
    await page.goto(`${other.origin('localhost')}/?${encodeURIComponent(shown)}`);
    await until('the browser rejects the frame', () =>
      browser.messages.some((text) => /frame-ancestors|Refused to frame|Framing/i.test(text)),
    );
    assert.deepEqual(
      browser.messages.splice(0).filter((text) => !/Framing|frame-ancestors/i.test(text)),
      [],
    );
    assert.deepEqual(browser.secrets, []);
  }
  // Neither attempt has used a token.
  const { app } = host.installation;
  for (const url of host.sessions) {
    const id = new URL(url).pathname.split('/').at(-1) ?? '';
    assert.equal((await redeem(app, { id, url })).status, 201);
  }
  assert.equal(host.sessions.length, 2);
});

test('a token works once: the same URL in a second frame shows that the session has ended', async (t) => {
  await using host = await Host.start('plain', {
    content: (url) => `<keyreeve-keys session="${url}"></keyreeve-keys>`,
  });
  await using browser = await openHostBrowser(t, host);
  if (!browser) return;
  await browser.open();
  await browser.button('Create key').first().waitFor();
  const [url = ''] = host.sessions;
  await browser.page.evaluate(
    `document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(url)} }))`,
  );
  await until('the second frame loads', () => browser.frames.length === 2);
  await browser.frame.getByText('Your session has ended').waitFor();
  assert.equal(browser.secrets.length, 1);
  const id = new URL(url).pathname.split('/').at(-1) ?? '';
  const answer = await redeem(host.installation.app, { id, url });
  assert.deepEqual([answer.status, (answer.json as { code: string }).code], [401, 'portal_token_invalid']);
  assert.ok(tokenOf({ url }).length >= 22);
});

test('a frame whose session the host ends loads another session, and the person continues', async (t) => {
  await using host = await Host.start('plain');
  await using browser = await openHostBrowser(t, host);
  if (!browser) return;
  await browser.open();
  const { app } = host.installation;
  const first = browser.frame;
  const id = new URL(host.sessions[0] ?? '').pathname.split('/').at(-1);
  const ended = await app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: host.backend.headers });
  assert.equal(ended.status, 204, ended.text);
  await browser.button('Create key').first().click();
  await browser.frame.getByRole('dialog').waitFor();
  await browser.frame.getByLabel('Nickname').fill('late');
  await browser.page.clock.fastForward(600);
  await browser.frame.getByRole('dialog').locator('[type=submit]').click();
  await browser.frame.getByText('Your session has ended').first().waitFor();
  assert.deepEqual(await browser.events(), []);
  await browser.button('Cancel').click();
  await until('the host gets the event', async () => (await browser.events()).includes('ended'));
  await browser.page.clock.fastForward(10_000);
  await until('the first frame has gone', () => first.isDetached());
  await browser.settle();
  assert.match(await browser.create('late'), /^krv_/);
  assert.equal(host.sessions.length, 2);
});
