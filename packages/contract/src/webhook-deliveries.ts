/** The log of webhook deliveries, and their replay. Administrators use it. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields, total, totalField } from './paging.ts';
import { route, type RouteContract } from './route.ts';
import { AccountId, Instant, orNull, strict, Text } from './schemas.ts';
import { changingWebhook, ofWebhook, WebhookEventType, WebhookId } from './webhooks.ts';

const DeliveryId = Type.String({
  description: 'Also the `webhook-id` of the request',
  examples: ['msg_3K9vQm1ZyT4cW8nB6pXr2L'],
});
export const DeliveryState = Type.Enum(['waiting', 'delivered', 'failed'], {
  $id: 'WebhookDeliveryState',
  description: '`waiting`: an attempt follows',
});

export const DeliveryAttempt = Named('WebhookAttempt', {
  at: Instant,
  status: orNull(Type.Integer({ description: 'Null without a response', examples: [503] })),
  ms: Type.Integer({ minimum: 0, examples: [41] }),
  error: orNull(Text('it answered 503'), null),
});

export const WebhookDelivery = Named('WebhookDelivery', {
  id: DeliveryId,
  event: WebhookEventType,
  accountId: orNull(
    Type.String({
      ...AccountId,
      description: 'Of the event. Null without an account, or if the audit log lacks the event',
    }),
  ),
  at: Type.String({ ...Instant, description: 'Time of the event' }),
  state: DeliveryState,
  nextAttemptAt: orNull(Instant, null),
  attemptCount: Type.Integer({ minimum: 1 }),
  attempts: Type.Array(DeliveryAttempt, { description: `The last ${limits.webhookAttemptsShownMax}, oldest first` }),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryDetails = Named('WebhookDeliveryDetails', {
  delivery: WebhookDelivery,
  payload: orNull(Text('{"id":"msg_…","type":"api_key.deleted",…}', 'The body of the request, as a replay sends it')),
});
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>;

export const WebhookDeliveryPage = Named('WebhookDeliveryList', {
  deliveries: Type.Array(WebhookDelivery),
  nextCursor,
  total,
});
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>;

export const ReplayBody = Named('WebhookReplay', {
  since: Type.String({
    format: 'date-time',
    maxLength: 35,
    description: 'RFC 3339. Deliveries whose last attempt was at this time or later',
    examples: ['2026-11-20T00:00:00Z'],
  }),
});

export const ReplayedDeliveries = Named('WebhookReplayResult', {
  replayed: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0, description: 'Their events are not available' }),
  hasMore: Type.Boolean({ description: 'Whether another request would replay more' }),
});
export type ReplayedDeliveries = Static<typeof ReplayedDeliveries>;

const path = '/admin/webhooks/:id';

export const listWebhookDeliveries = route('listWebhookDeliveries', `GET ${path}/deliveries`, {
  ...ofWebhook,
  summary: 'List the deliveries of a webhook endpoint',
  description: `The most recently begun first, of ${limits.webhookDeliveryDays} days. An attempt appears after about a second.`,
  query: Type.Object({ state: Type.Optional(DeliveryState), ...pageFields, ...totalField }, strict),
  success: { status: 200, description: 'A page of deliveries', schema: WebhookDeliveryPage },
  errors: ['invalid_request', 'webhook_not_found'],
});

const ofDelivery = { params: Type.Object({ id: WebhookId, delivery: DeliveryId }) } as const;

export const getWebhookDelivery = route('getWebhookDelivery', `GET ${path}/deliveries/:delivery`, {
  ...ofWebhook,
  ...ofDelivery,
  summary: 'Read a webhook delivery with its payload',
  description: 'The payload is made from the audit event; null if that is gone.',
  success: { status: 200, description: 'The delivery', schema: WebhookDeliveryDetails },
  errors: ['webhook_not_found', 'webhook_delivery_not_found'],
});

export const replayWebhookDelivery = route('replayWebhookDelivery', `POST ${path}/deliveries/:delivery/replay`, {
  ...changingWebhook,
  ...ofDelivery,
  summary: 'Replay a webhook delivery',
  description: 'Sends the event again with the same id. Changes nothing if an attempt follows anyway.',
  success: { status: 204, description: 'It is queued' },
  errors: ['webhook_not_found', 'webhook_delivery_not_found', 'webhook_disabled', 'webhook_event_missing'],
});

export const replayFailedWebhookDeliveries = route('replayFailedWebhookDeliveries', `POST ${path}/replay-failed`, {
  ...changingWebhook,
  summary: 'Replay the failed deliveries of a webhook endpoint',
  description: `At most ${limits.webhookReplaysMax}, the most recently begun first, with the same ids.`,
  body: { type: 'json', schema: ReplayBody },
  success: { status: 200, description: 'How many are queued', schema: ReplayedDeliveries },
  errors: ['webhook_not_found', 'webhook_disabled'],
});

export const webhookDeliveryRoutes: readonly RouteContract[] = [
  listWebhookDeliveries,
  getWebhookDelivery,
  replayWebhookDelivery,
  replayFailedWebhookDeliveries,
];
