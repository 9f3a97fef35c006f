/** Requests of `one-connection.ts` to the routes for webhooks, with a receiver on loopback. */
import assert from 'node:assert/strict';
import type { WebhookDeliveryPage } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../test-kit/administrators.ts';
import type { Answered, SignedIn, TestApp } from '../../../test-kit/new-app.ts';
import { until } from '../../../test-kit/until.ts';
import type { Receiver } from '../../../test-kit/webhook-receiver.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
  readonly receiver: Receiver;
}
type Send = (stage: Stage) => Promise<Answered>;
type Act = (app: TestApp, administrator: SignedIn, id: string) => Promise<Answered>;

/** A request of an administrator about a new webhook endpoint. */
const ofWebhook =
  (newEmail: () => string, act: Act, isDeleted = false): Send =>
  async ({ client: { app }, receiver }) => {
    const administrator = await newAdministrator(app, newEmail());
    const json = { url: receiver.url, events: ['account.enabled', 'account.created'] };
    const created = await administer(app, administrator, 'POST', 'webhooks', json);
    assert.equal(created.status, 201, created.text);
    const { id } = created.json as { id: string };
    const answer = await act(app, administrator, id);
    // The number of endpoints is limited.
    if (!isDeleted) await administer(app, administrator, 'DELETE', `webhooks/${id}`);
    return answer;
  };

/** A request about a delivery to a new webhook endpoint. @param path after that of the delivery */
const ofDelivery = (newEmail: () => string, method: string, path = ''): Send =>
  ofWebhook(newEmail, async (app, administrator, id) => {
    await app.createAccount(newEmail());
    const deliveries = `webhooks/${id}/deliveries`;
    let delivery = '';
    await until('the delivery is logged', async () => {
      await app.service.services.webhooks.log.flush();
      const page = (await administer(app, administrator, 'GET', deliveries)).json as WebhookDeliveryPage;
      delivery = page.deliveries[0]?.id ?? '';
      return delivery !== '';
    });
    return administer(app, administrator, method, `${deliveries}/${delivery}${path}`);
  });

/** One for each route, by its id. @param newEmail returns the email address of a new account */
export function webhookRequests(newEmail: () => string): Readonly<Record<string, Send>> {
  const send = (method: string, path: (id: string) => string, json?: object): Send =>
    ofWebhook(
      newEmail,
      (app, administrator, id) => administer(app, administrator, method, path(id), json),
      method === 'DELETE',
    );
  return {
    createWebhook: send('GET', (id) => `webhooks/${id}`),
    listWebhooks: send('GET', () => 'webhooks'),
    getWebhook: send('GET', (id) => `webhooks/${id}`),
    changeWebhook: send('PATCH', (id) => `webhooks/${id}`, { events: ['account.created'] }),
    deleteWebhook: send('DELETE', (id) => `webhooks/${id}`),
    disableWebhook: send('POST', (id) => `webhooks/${id}/disable`),
    enableWebhook: send('POST', (id) => `webhooks/${id}/enable`),
    rotateWebhookSecret: send('POST', (id) => `webhooks/${id}/rotate-secret`),
    testWebhook: send('POST', (id) => `webhooks/${id}/test`),
    listWebhookDeliveries: send('GET', (id) => `webhooks/${id}/deliveries?state=failed`),
    getWebhookDelivery: ofDelivery(newEmail, 'GET'),
    replayWebhookDelivery: ofDelivery(newEmail, 'POST', '/replay'),
    replayFailedWebhookDeliveries: send('POST', (id) => `webhooks/${id}/replay-failed`, {
      since: '2026-11-20T00:00:00Z',
    }),
  };
}
