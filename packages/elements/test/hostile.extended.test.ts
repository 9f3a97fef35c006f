/** A hostile script in the page of a host, before all other scripts: it gets no secret of a key, and no portal session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redeem, tokenOf } from '../../server/test-kit/portal.ts';
import { until } from '../../server/test-kit/until.ts';
import { address, Host, hostKinds } from './kit/host.ts';
import { openHostBrowser, type HostBrowser } from './kit/host-browser.ts';
import { hasFrameworks } from './kit/frameworks.ts';

const nickname = 'billing worker of tenant 182';

const lootOf = async ({ page }: HostBrowser): Promise<string> => ((await page.evaluate('loot')) as string[]).join('\n');

const idOf = (url: string): string => new URL(url).pathname.split('/').at(-1) ?? '';

/** @throws AssertionError if the loot has a secret of a key or session, a token, the URL of a session, or a nickname */
async function assertNothing(browser: HostBrowser, keys: readonly string[]): Promise<void> {
  const loot = await lootOf(browser);
  // The script works: it has read the page and the closed shadow root, and has seen the events.
  assert.match(loot, /^html <html/m);
  assert.match(loot, /^html <iframe/m);
  assert.match(loot, /^created \[null,\{"keyId":\d+\}/m);
  assert.match(loot, /^message \[\{"keyreeve":1,"type":"ready"\}/m);
  const { sessions } = browser.host;
  const secrets = [...keys, ...browser.secrets, ...sessions.map((url) => tokenOf({ url })), ...sessions.map(idOf)];
  assert.ok(browser.secrets.length > 0);
  for (const secret of [...secrets, '/portal/por_', nickname]) {
    const line = loot.split('\n').find((each) => each.includes(secret));
    assert.equal(line, undefined, secret);
  }
  // No part of one, either: random characters of ten or more.
  for (const secret of secrets)
    for (let start = 5; start + 10 <= secret.length; start += 5)
      assert.equal(loot.includes(secret.slice(start, start + 10)), false, secret);
}

for (const kind of hostKinds)
  test(`a hostile script reads no secret in a page of the kind “${kind}”`, async (t) => {
    if (kind === 'react' && !hasFrameworks(t)) return;
    await using host = await Host.start(kind, { isHostile: true });
    await using browser = await openHostBrowser(t, host);
    if (!browser) return;
    const { page } = (await browser.open(), browser);
    const look = (): Promise<unknown> => page.evaluate('look()');
    await look();
    const secret = await browser.create(nickname);
    await look();
    const { frame } = browser;
    await frame.getByRole('dialog').getByRole('button', { name: 'Copy Secret' }).click();
    await browser.button('Copied Secret').waitFor();
    // Selected and copied with the keyboard, too.
    await frame.getByLabel('Secret', { exact: true }).selectText();
    await page.keyboard.press('Control+c');
    await look();
    await browser.closeSecret();
    await until('the host gets the event', async () => (await browser.events()).length === 1);
    await look();
    await page.evaluate(`fetchAddress('${address}')`);
    // The strict policy blocks most of them.
    for (const tag of kind === 'strict' ? ['iframe'] : ['img', 'script', 'object', 'embed', 'link', 'iframe'])
      await until(`the request of ${tag} arrives`, () => host.requests.includes(`GET ${address}?${tag}`));
    // That of the element, and two of the script, which show the key page and give the script nothing.
    await until('each frame has a session', () => host.sessions.length === 3 && browser.secrets.length === 3);
    await look();
    await assertNothing(browser, [secret]);
    // Its requests got no session: those that exist are of frames, whose pages have redeemed the tokens.
    const { app } = host.installation;
    for (const url of host.sessions) assert.equal((await redeem(app, { id: idOf(url), url })).status, 401);
    await page.evaluate(`redeem('${host.service}', [['por_guess', 'krvp_guess']])`);
    const attempts = (await lootOf(browser)).split('\n').filter((line) => line.startsWith('redeem '));
    assert.equal(attempts.length, 6);
    for (const line of attempts) assert.match(line, /^redeem (?:TypeError |\["opaque",0,"",\[\],""\]$)/);
  });

test('a service worker of the host that forwards the requests of the frame gets no session', async (t) => {
  await using host = await Host.start('plain', { isHostile: true });
  await using browser = await openHostBrowser(t, host);
  if (!browser) return;
  const { page } = (await browser.open(), browser);
  await page.evaluate(`(async () => {
    await navigator.serviceWorker.register('/service-worker.js');
    await navigator.serviceWorker.ready;
  })()`);
  await page.reload();
  await page.evaluate(`navigator.serviceWorker.addEventListener('message', ({ data }) => loot.push(data.join(' ')))`);
  await page.evaluate(`document.querySelector('keyreeve-keys').setAttribute('src', '${address}?again')`);
  await until('the worker has forwarded a request', async () => /^forwarded .*again/m.test(await lootOf(browser)));
  const loot = await lootOf(browser);
  assert.match(loot, /^worker http\S+\/api-keys\/frame\?again iframe navigate$/m);
  // Chromium names no frame as the destination of its requests.
  assert.equal(loot.match(/^(?:own|forwarded) basic 403 .*again/gm)?.length, 4);
  // That of the page before the worker.
  assert.equal(host.sessions.length, 1);
  for (const url of host.sessions)
    for (const part of [idOf(url), tokenOf({ url })]) assert.equal(loot.includes(part), false);
});

test('a script that has the URL of a session cannot redeem its token from the host, and the frame still can', async (t) => {
  await using host = await Host.start('plain', { isHostile: true, content: () => '' });
  await using browser = await openHostBrowser(t, host);
  if (!browser) return;
  const { page } = browser;
  await page.goto(`${host.origin}/`);
  const [url = ''] = host.sessions;
  await page.evaluate(`redeem('${host.service}', [['${idOf(url)}', '${tokenOf({ url })}']])`);
  const attempts = (await lootOf(browser)).split('\n').filter((line) => line.startsWith('redeem '));
  assert.equal(attempts.length, 6);
  for (const line of attempts) assert.match(line, /^redeem (?:TypeError |\["opaque",0,"",\[\],""\]$)/);
  const { app } = host.installation;
  const foreign = await redeem(app, { id: idOf(url), url }, { origin: host.origin });
  assert.deepEqual([foreign.status, (foreign.json as { code: string }).code], [403, 'cross_origin_request']);
  await page.evaluate(`document.body.append(
    Object.assign(document.createElement('keyreeve-keys'), { id: 'late' }))`);
  await page.evaluate(`document.querySelector('#late').setAttribute('session', '${url}')`);
  await browser.settle();
  await browser.button('Create key').first().waitFor();
});
