/** The log of a webhook's deliveries in the console, and their replay. */
import assert from 'node:assert/strict';
import { Webhook as Verifier } from 'standardwebhooks';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { saveTriedDeliveries } from '../../server/src/modules/webhooks/delivery-store.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { until } from '../../server/test-kit/until.ts';
import { newReceiver } from '../../server/test-kit/webhook-receiver.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { hostileTexts } from './kit/seed.ts';

const test = consoleTests({ environment: { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' } });

async function openWebhook(site: ConsoleSite, id: string) {
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  await site.app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
  const visitor = await site.open();
  await signInByCookie(visitor.context, email);
  await visitor.goto(`/console/admin/webhooks/${id}`);
  return visitor;
}

test('an administrator replays a delivery, which arrives with the same id', async (site) => {
  await using receiver = await newReceiver();
  const { webhooks, scopeCatalogue } = site.app.service.services;
  const { id } = await webhooks.endpoints.create(operator, { url: receiver.url, events: ['scope.set'] });
  await scopeCatalogue.set(operator, `reports.${crypto.randomUUID().slice(0, 8)}`, {
    description: '',
    entitled: false,
  });
  // The sender records the attempt after the receiver's response.
  await until('the delivery is in the log', async () => {
    await webhooks.log.flush();
    return (await webhooks.deliveries.list(id, {})).deliveries.length === 1;
  });
  const { page } = await openWebhook(site, id);
  await page.getByRole('cell', { name: 'Delivered' }).waitFor();
  await page.getByRole('button', { name: 'Replay scope.set' }).click();
  await until('the event arrives again', () => receiver.received.length === 2);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 1);
  await page.getByRole('button', { name: 'Replay failed deliveries' }).click();
  await page.getByRole('dialog').locator('[type=submit]').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('an administrator sees payload and response status of a delivery, and moves the webhook to another URL', async (site) => {
  await using before = await newReceiver();
  await using after = await newReceiver();
  before.answer = (_, response) => void response.writeHead(500).end('text of an internal page');
  const { webhooks, scopeCatalogue } = site.app.service.services;
  const { id } = await webhooks.endpoints.create(operator, { url: before.url, events: ['scope.set'] });
  const name = `moved.${crypto.randomUUID().slice(0, 8)}`;
  await scopeCatalogue.set(operator, name, { description: '', entitled: false });
  await until('the failure is in the log', async () => {
    await webhooks.log.flush();
    return (await webhooks.deliveries.list(id, { state: 'waiting' })).deliveries.length === 1;
  });
  const visitor = await openWebhook(site, id);
  const { page } = visitor;
  // The URL that is refused.
  visitor.expect(/status of 400/);
  await page.getByText('Failing', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Details of scope.set' }).click();
  const details = page.getByRole('dialog');
  const payload = JSON.parse(await details.getByRole('group', { name: 'Payload' }).innerText()) as object;
  assert.deepEqual(payload, JSON.parse(before.received[0]?.body ?? ''));
  await details.getByRole('cell', { name: '500', exact: true }).waitFor();
  assert.ok(!(await page.content()).includes('internal page'));
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  const url = dialog.getByLabel('URL');
  assert.equal(await url.inputValue(), before.url);
  assert.ok(await dialog.getByLabel('scope.set').isChecked());
  await url.fill('https://user:password@example.com/');
  await dialog.locator('[type=submit]').click();
  await dialog.locator('.field-error', { hasText: 'Keyreeve cannot send to this URL.' }).waitFor();
  await url.fill(after.url);
  await dialog.locator('[type=submit]').click();
  await dialog.getByText('Waiting deliveries that are now sent to it: 1.').waitFor();
  const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
  site.app.clock.advance({ seconds: 5 });
  const [received] = await after.until(1);
  new Verifier(secret).verify(received!.body, received!.headers as Record<string, string>);
  await dialog.getByRole('checkbox').check();
  await dialog.locator('.actions.end .button').click();
  await page.getByRole('heading', { name: after.url }).waitFor();
  assert.ok(!(await page.content()).includes(secret));
});

test('hostile errors of endpoints are shown as text', async (site) => {
  const { webhooks } = site.app.service.services;
  const { id } = await webhooks.endpoints.create(operator, { url: 'http://127.0.0.1:9/', events: ['scope.set'] });
  const now = site.app.clock.now();
  const error = hostileTexts.markup;
  const delivery = {
    id: 'msg_hostile',
    endpointId: id,
    type: 'scope.set',
    eventAt: now,
    chain: 0,
    position: 1_000_000,
  };
  await saveTriedDeliveries(site.app.db, [{ ...delivery, attempts: [[now, 503, 41, error]] }], 20);
  const { page } = await openWebhook(site, id);
  await page.getByText(error, { exact: true }).first().waitFor();
  assert.equal(await page.evaluate('document.images.length'), 0);
});
