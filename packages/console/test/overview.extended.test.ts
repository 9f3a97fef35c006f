/** The live overview: it follows the installation, and only while the person can see it and may. */
import assert from 'node:assert/strict';
import type { Locator, Page, Request } from 'playwright-core';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { saveMinutes } from '../../server/src/modules/overview/store.ts';
import { recordFailure } from '../../server/src/modules/webhooks/store.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { seedAdministration } from './kit/admin-seed.ts';
import { changeOverview, overviewData, overviewPath } from './kit/admin-overview-scenes.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { breakDatabase } from './kit/outage.ts';
import { hostileTexts } from './kit/seed.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();
const dataPath = '/console/api/admin/overview';

/** An administrator on the overview, whose browser has a clock that the test moves. */
async function openOverview(site: ConsoleSite): Promise<{ visitor: Visitor; page: Page; email: string; id: string }> {
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { accounts } = site.app.service.services;
  const { id } = await accounts.create(operator, email, new Secret(goodPassword), 'admin');
  const visitor = await site.open({ hasClock: true });
  const { page } = visitor;
  await signInByCookie(visitor.context, email);
  await visitor.goto(overviewPath);
  await state(page, 'Live').waitFor();
  return { visitor, page, email, id };
}

const state = (page: Page, word: string): Locator => page.locator('.live-status').getByText(word, { exact: true });

const requestsOf = ({ requests }: Visitor): number => requests.filter((one) => one === `GET ${dataPath}`).length;

/** Lets the browser's clock pass the next request. The clock runs meanwhile, so the page may have sent it already. */
const passUpdate = (page: Page): Promise<void> => page.clock.runFor(5_000);

/** The same, and waits for its response. Not after a change that ends the requests: the response may have arrived. */
async function nextUpdate(page: Page): Promise<void> {
  const response = page.waitForResponse(overviewData);
  await passUpdate(page);
  await response;
}

/** Chromium without a window never hides a page. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

test('new verifications, events and problems appear without a reload, and only problems are announced', async (site) => {
  const { clock, db, service } = site.app;
  const { page } = await openOverview(site);
  const announcement = page.getByRole('status').first();
  const refused = page.getByRole('group', { name: 'Refusals by reason' }).getByRole('row', { name: 'Expired' });
  const count = refused.getByRole('cell').last();
  assert.equal(await count.innerText(), '0');
  const opened = await page.evaluate('performance.timeOrigin');

  const now = clock.now();
  const counts = { results: { expired: 7 }, signIns: {}, hashes: {}, verificationMs: [], databaseMs: [] };
  const minute = now - (now % 60_000) - 60_000;
  await saveMinutes(
    db,
    { id: 'ins_other', version: '9.9.9', startedAt: now, seenAt: now, masterKeyId: '', settings: '{}' },
    [{ minute, counts: JSON.stringify(counts) }],
  );
  await service.services.scopeCatalogue.set(operator, 'orders:read', { description: '', entitled: false });
  await nextUpdate(page);
  await count.getByText('7', { exact: true }).waitFor();
  await page.getByText('9.9.9').waitFor();
  await page.getByText('A scope of the catalogue was set').first().waitFor();
  assert.equal(await announcement.innerText(), '');

  const url = 'https://hooks.example.com/';
  const webhook = await service.services.webhooks.endpoints.create(operator, { url, events: ['api_key.disabled'] });
  await recordFailure(db, webhook, now, 'connection refused');
  await nextUpdate(page);
  const sentence = 'The last delivery of a webhook failed.';
  await announcement.getByText(sentence).waitFor();
  await page.getByText('https://hooks.example.com/: connection refused').waitFor();
  assert.equal(await page.evaluate('performance.timeOrigin'), opened, 'the page was not loaded again');
  await page.locator('.attention li', { hasText: sentence }).getByRole('link', { name: 'Webhook' }).click();
  await page.getByRole('heading', { level: 1, name: url }).waitFor();
});

test('updates do not extend the session; an action of the person does', async (site) => {
  const { visitor, page } = await openOverview(site);
  const causes: (string | undefined)[] = [];
  page.on('request', (request: Request) => {
    if (request.url().endsWith(dataPath)) causes.push(request.headers()['x-keyreeve-console']);
  });
  const idleEnd = async (): Promise<string> => {
    const headers = { 'x-keyreeve-console': 'background' };
    const response = await visitor.context.request.get('/console/session', { headers });
    return ((await response.json()) as { session: { idleExpiresAt: string } }).session.idleExpiresAt;
  };
  const before = await idleEnd();
  // The server writes an extension at most every five minutes.
  site.app.clock.advance({ seconds: 600 });
  await nextUpdate(page);
  await nextUpdate(page);
  await setHidden(page, true);
  await setHidden(page, false);
  await nextUpdate(page);
  assert.deepEqual([...new Set(causes)], ['background']);
  assert.equal(await idleEnd(), before);
  await page.getByRole('link', { name: 'Signing keys', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Signing keys' }).waitFor();
  await visitor.settle();
  assert.ok((await idleEnd()) > before);
});

test('updates stop while the page is hidden, paused or left, and continue at once when it is visible', async (site) => {
  const { visitor, page } = await openOverview(site);
  await nextUpdate(page);
  const stopsWith = async (change: () => Promise<unknown>): Promise<void> => {
    await change();
    const before = requestsOf(visitor);
    await page.clock.runFor(60_000);
    assert.equal(requestsOf(visitor), before);
  };
  await stopsWith(() => setHidden(page, true));
  const response = page.waitForResponse(overviewData);
  await setHidden(page, false);
  await page.clock.runFor(100);
  await response;
  await stopsWith(() => page.getByRole('button', { name: 'Pause' }).click());
  await state(page, 'Paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await nextUpdate(page);
  await state(page, 'Live').waitFor();
  await stopsWith(async () => {
    await page.getByRole('link', { name: 'Settings', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  });
});

test('a limited request is repeated after the time of the response, and the values say that they are old', async (site) => {
  const { visitor, page } = await openOverview(site);
  visitor.expectStatus(429);
  await page.route(
    overviewData,
    (route) =>
      route.fulfill({
        status: 429,
        headers: { 'content-type': 'application/problem+json', 'retry-after': '600' },
        body: JSON.stringify({ code: 'rate_limited', status: 429, title: 'Too many requests' }),
      }),
    { times: 1 },
  );
  // This passes the next request. A clock that ran could reach the time of the repetition before the test does.
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 3_600_000);
  await state(page, 'Out of date').waitFor();
  await page.getByText('You can try again at').waitFor();
  await page.getByRole('group', { name: 'Refusals by reason' }).waitFor();
  const before = requestsOf(visitor);
  await page.clock.fastForward(599_000);
  assert.equal(requestsOf(visitor), before);
  const response = page.waitForResponse(overviewData);
  await page.clock.fastForward(1_000);
  assert.equal((await response).status(), 200);
  await page.clock.resume();
  await state(page, 'Live').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('a response that does not arrive makes the values old, and a later one makes them current', async (site) => {
  const { page } = await openOverview(site);
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  // All requests, because the clock runs: otherwise a later response could make the values current before they are read.
  await page.route(overviewData, async (route) => {
    held.resolve();
    await release.promise;
    // The page has given up the first ones.
    await route.continue().catch(() => undefined);
  });
  await passUpdate(page);
  await held.promise;
  await page.clock.runFor(21_000);
  await state(page, 'Out of date').waitFor();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  release.resolve();
  await page.clock.runFor(15_000);
  await state(page, 'Live').waitFor();
  // A request of the page may be in progress.
  await page.unrouteAll({ behavior: 'wait' });
});

test(
  'while the database is unavailable, the last values stay and are marked, and continue after its return',
  async (site) => {
    const { visitor, page } = await openOverview(site);
    visitor.expectStatus(503);
    const repair = await breakDatabase(site.app.place.url);
    await passUpdate(page);
    await page.getByRole('alert').getByText('The service cannot reach its database').waitFor();
    await state(page, 'Out of date').waitFor();
    await page.getByRole('group', { name: 'Refusals by reason' }).waitFor();
    await repair();
    await page.evaluate('dispatchEvent(new Event("online"))');
    await state(page, 'Live').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  },
  // The service ends soon after its SQLite file was removed.
  { isAlone: true, databases: ['postgres'] },
);

test('when the session or the role has ended, the page leads away by itself, and requests stop', async (site) => {
  const { accounts } = site.app.service.services;
  for (const [status, end, sentence] of [
    [403, (id: string) => accounts.setRole(operator, id, 'user'), 'Only administrators can open this page.'],
    [401, (id: string) => accounts.endSessions(operator, id), 'Your session has ended'],
  ] as const) {
    const { visitor, page, id } = await openOverview(site);
    visitor.expectStatus(status);
    await end(id);
    await passUpdate(page);
    await page.getByText(sentence).waitFor();
    const before = requestsOf(visitor);
    await page.clock.runFor(60_000);
    assert.equal(requestsOf(visitor), before, sentence);
  }
});

test('hostile versions, results, failures and nicknames are shown as text', async (site) => {
  const { visitor, page } = await openOverview(site);
  const counts = (): Promise<unknown> => page.evaluate('[document.images.length, document.scripts.length]');
  const before = await counts();
  const suffix = crypto.randomUUID().slice(0, 8);
  await seedAdministration(site.app, `seed.${suffix}@example.com`);
  const { markup, script } = hostileTexts;
  await changeOverview(page, ({ outbox, attention, now, events }) => ({
    outbox: [...outbox, { kind: markup, waiting: 1, oldestSeconds: 1 }],
    attention: [...attention, { code: 'jobs_late', since: now, subject: script, count: 1, detail: markup }],
    events: [{ ...events[0]!, id: 1, action: markup, actor: script }, ...events.slice(1)],
  }));
  await visitor.goto(overviewPath);
  for (const [place, hostile] of [
    ['Processes', markup],
    ['Refusals by reason', markup],
    ['Waiting jobs', markup],
    ['Newest events', markup],
    ['Newest events', script],
  ] as const)
    await page.getByRole('group', { name: place }).getByText(hostile).first().waitFor();
  await page.locator('.attention').getByText(`503 ${script}`).first().waitFor();
  await page.locator('.attention').getByText(`${script} (1)`).waitFor();
  assert.deepEqual(await counts(), before);
  // A request of the page may be in progress.
  await page.unrouteAll({ behavior: 'wait' });
});

test('the values of a minute can be read by keyboard, and the values of all minutes in a table', async (site) => {
  const { clock, db } = site.app;
  const now = clock.now();
  const counts = { results: { api_key: 1_234 }, signIns: {}, hashes: {}, verificationMs: [], databaseMs: [] };
  await saveMinutes(
    db,
    { id: 'ins_keyboard', version: '1', startedAt: now, seenAt: now, masterKeyId: '', settings: '{}' },
    [{ minute: now - (now % 60_000) - 60_000, counts: JSON.stringify(counts) }],
  );
  const { page } = await openOverview(site);
  await page.locator('.chart-area [role=img]').focus();
  await page.keyboard.press('End');
  await page.locator('.chart-readout', { hasText: /Accepted 1,\d{3}/ }).waitFor();
  await page.getByText('Show as a table').click();
  assert.equal(await page.locator('.chart tbody tr').count(), 60);
});
