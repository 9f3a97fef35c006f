/** Bounds of the outbox and of webhooks. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const deliveryLimits = {
  // Separate, so that slow receivers of webhooks do not delay mail.
  outboxUnderWayMax: limit(16, 'Webhook deliveries in progress per process, and as many mails.'),
  // Each is one connection to the mail server.
  outboxWaitingMax: limit(256, 'Mails per process that wait for slow mail servers and delay no other.'),
  // Their load must not reveal in the response times of other requests whether the email has an account.
  requestedMailDelayMsMax: limit(2_000, 'Random delay of a sign-up or reset job, and of the reset’s mail.'),
  outboxKeptDays: limit(3, 'An undelivered job is retried for this time.'),
  mailLogKeptDays: limit(30, 'The log of mail goes back this far.'),
  mailLogMax: limit(200_000, 'Mails in the log. Those to unverified sign-ups are deleted first, then the oldest.'),
  mailLogPerAccountMax: limit(1_000, 'Mails of one account in the log. The oldest are deleted first.'),
  webhookEndpointsMax: limit(20, 'Webhook endpoints, disabled ones included.', 'webhook_limit_reached'),
  webhookUrlCharsMax: limit(1_024, 'The URL of a webhook endpoint.'),
  webhookMsMax: limit(5_000, 'One delivery of a webhook, from name resolution to response.'),
  webhookAnswerBytesMax: limit(65_536, 'Bytes read of an endpoint’s response.'),
  webhookSecretOverlapSeconds: limit(86_400, 'A replaced secret of a webhook endpoint also signs for this time.'),
  webhookEventsPerLookMax: limit(100, 'Events per audit chain that enter the outbox together.'),
  webhookDeliveryDays: limit(7, 'The log of webhook deliveries goes back this far.'),
  webhookDeliveriesPerEndpointMax: limit(
    10_000,
    'Deliveries in the log of a webhook endpoint. The oldest are deleted first.',
  ),
  webhookAttemptsShownMax: limit(20, 'Attempts of a webhook delivery in its log: the last ones.'),
  webhookReplaysMax: limit(500, 'Failed webhook deliveries that one request replays.'),
} as const satisfies Limits;
