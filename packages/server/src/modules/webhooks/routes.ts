/** HTTP routes of webhook endpoints, for administrators. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import { toWebhook } from './endpoints.ts';
import type { Webhooks } from './webhooks.ts';

export function webhookRoutes({ endpoints, deliveries }: Pick<Webhooks, 'endpoints' | 'deliveries'>): readonly Route[] {
  return [
    route(contract.createWebhook, async ({ principal, body }) => {
      const { secret, ...endpoint } = await endpoints.create(principal, body);
      const { id, url, events, createdAt, updatedAt, disabledAt } = toWebhook(endpoint);
      const times = { createdAt, updatedAt, disabledAt };
      const created: contract.CreatedWebhook = { id, url, events, ...times, secret: secret.reveal() };
      return { status: 201, headers: ['Location', `/admin/webhooks/${id}`], body: created };
    }),
    route(contract.listWebhooks, async () => ({
      status: 200,
      body: { webhooks: (await endpoints.list()).map(toWebhook) },
    })),
    route(contract.getWebhook, async ({ params }) => ({
      status: 200,
      body: toWebhook(await endpoints.find(params.id)),
    })),
    route(contract.changeWebhook, async ({ principal, params, body }) => {
      const { endpoint, secret } = await endpoints.change(principal, params.id, body);
      const changed: contract.ChangedWebhook = { webhook: toWebhook(endpoint), secret: secret?.reveal() ?? null };
      return { status: 200, body: changed };
    }),
    route(contract.deleteWebhook, async ({ principal, params }) => {
      await endpoints.delete(principal, params.id);
      return { status: 204 };
    }),
    route(contract.disableWebhook, async ({ principal, params }) => {
      await endpoints.disable(principal, params.id);
      return { status: 204 };
    }),
    route(contract.enableWebhook, async ({ principal, params }) => {
      await endpoints.enable(principal, params.id);
      return { status: 204 };
    }),
    route(contract.rotateWebhookSecret, async ({ principal, params }) => {
      const { secret, previousValidUntil } = await endpoints.rotateSecret(principal, params.id);
      const rotated: contract.RotatedWebhookSecret = {
        secret: secret.reveal(),
        previousValidUntil: toInstant(previousValidUntil),
      };
      return { status: 200, body: rotated };
    }),
    route(contract.testWebhook, async ({ params }) => {
      const { status, failure } = await endpoints.test(params.id);
      return { status: 200, body: { delivered: failure === null, status, failure } };
    }),
    route(contract.listWebhookDeliveries, async ({ params, query }) => ({
      status: 200,
      body: await deliveries.list(params.id, query),
    })),
    route(contract.getWebhookDelivery, async ({ params }) => ({
      status: 200,
      body: await deliveries.find(params.id, params.delivery),
    })),
    route(contract.replayWebhookDelivery, async ({ principal, params }) => {
      await deliveries.replay(principal, params.id, params.delivery);
      return { status: 204 };
    }),
    route(contract.replayFailedWebhookDeliveries, async ({ principal, params, body }) => ({
      status: 200,
      body: await deliveries.replayFailed(principal, params.id, body.since),
    })),
  ];
}
