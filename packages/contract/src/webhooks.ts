/** Webhook endpoints: URLs that receive events of accounts, keys and sessions. Administrators register them. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route, type RouteContract } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';

/** The types of events and their meanings. */
export const webhookEventTable = {
  'account.created':
    'Its owner, an operator or an administrator created an account. Imported accounts are not published.',
  'account.verified': 'The owner of an account verified its email address.',
  'account.disabled':
    'An account was disabled. Its sessions have ended, and its keys are rejected until it is enabled.',
  'account.enabled': 'A disabled account was enabled. Its keys are accepted again.',
  'account.deleted': 'An account or service account was deleted with its sessions and keys.',
  'account.password_changed': 'An account has a new password. Its other sessions have ended.',
  'account.email_changed': 'An account has a new email address.',
  'account.quota_reached':
    'The quota of an account is used up, or has too few tokens for a verification. Sent once for each period and limit.',
  'account.sessions_ended': 'All sessions of an account were ended together.',
  'account.entitlements_set': 'An account has other entitlements. Every verification already applies them to its keys.',
  'second_factor.added': 'An account enrolled a second factor. Its sign-ins need it from now on.',
  'second_factor.removed': 'An account’s second factor was removed.',
  'api_key.created': 'An API key was created. Imported keys are not published.',
  'api_key.disabled': 'An API key was disabled. Every verification already rejects it.',
  'api_key.enabled': 'A disabled API key was enabled. It is accepted again.',
  'api_key.rotated': 'An API key has a new secret. The previous one is valid for `overlapSeconds`.',
  'api_key.previous_ended':
    'The previous secret of a rotated API key was ended. Every verification already rejects it.',
  'api_key.leaked':
    'A leaked secret of an API key was reported and has ended. If it was the current one, the key is disabled until it is rotated.',
  'api_key.expiring': `An API key expires in ${limits.firstExpiryNoticeDays} or ${limits.lastExpiryNoticeDays} days.`,
  'api_key.quota_reached':
    'The quota of an API key is used up, or has too few tokens for a verification. Sent once for each period and limit.',
  'api_key.deleted': 'An API key was deleted. Every verification already rejects it.',
  'service_account.created': 'A service account was created.',
  'service_account.updated': 'The name or the external id of a service account changed.',
  'service_account.manager_added': 'A service account has another manager.',
  'service_account.manager_removed':
    'An account no longer manages a service account. The keys of the service account stay valid.',
  'scope.set': 'A scope of the catalogue was declared or changed. Every verification already applies it.',
  'scope.deleted': 'A scope of the catalogue was deleted. It is in force on no key.',
  'session.ended':
    'A session ended before it expired: by sign-out, by a request to end it, or as the oldest of too many.',
  'session.reuse_detected': 'A refresh token was used twice, so it may have been copied. Its session has ended.',
} as const;

export type WebhookEvent = keyof typeof webhookEventTable;
export const webhookEvents = Object.keys(webhookEventTable) as WebhookEvent[];

export const WebhookId = Type.String({ examples: ['whe_3K9vQm1ZyT4cW8nB6pXr2L'] });
const Url = Type.String({
  minLength: 1,
  maxLength: limits.webhookUrlCharsMax,
  description: 'https, without user, password and fragment',
  examples: ['https://example.com/hooks/keyreeve'],
});
export const WebhookEventType = Type.Enum(webhookEvents, {
  $id: 'WebhookEventType',
  description: Object.entries(webhookEventTable)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join(' '),
});
const Events = Type.Array(WebhookEventType, {
  minItems: 1,
  maxItems: webhookEvents.length,
  uniqueItems: true,
});

export const NewWebhookBody = Named('NewWebhook', { url: Url, events: Events });

export const WebhookChangeBody = Named(
  'WebhookChange',
  { url: Type.Optional(Url), events: Type.Optional(Events) },
  {
    minProperties: 1,
    description: 'Absent members keep their values',
    examples: [{ url: 'https://example.com/hooks/keyreeve-2' }],
  },
);

const endpointFields = {
  id: WebhookId,
  url: Url,
  events: Events,
  createdAt: Instant,
  updatedAt: Instant,
  disabledAt: orNull(Instant, null),
};
const Secret = Type.String({
  description: 'For checking signatures. Only this response has it',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

export const CreatedWebhook = Named('CreatedWebhook', { ...endpointFields, secret: Secret });
export type CreatedWebhook = Static<typeof CreatedWebhook>;
export type WebhookChangeBody = Static<typeof WebhookChangeBody>;

export const Webhook = Named('Webhook', {
  ...endpointFields,
  waiting: Type.Integer({ minimum: 0, description: 'Unfinished deliveries' }),
  nextAttemptAt: orNull(Type.String({ ...Instant, description: 'Of the unfinished deliveries' }), null),
  failingSince: orNull(Type.String({ ...Instant, description: 'The first failure after the last success' }), null),
  lastDeliveredAt: orNull(Instant),
  lastFailedAt: orNull(Instant, null),
  lastFailure: orNull(Text('it answered 503'), null),
});
export type Webhook = Static<typeof Webhook>;

export const ChangedWebhook = Named('ChangedWebhook', {
  webhook: Webhook,
  secret: orNull(Type.String({ ...Secret, description: 'Of a new URL. Only this response has it' })),
});
export type ChangedWebhook = Static<typeof ChangedWebhook>;

export const WebhookList = Named('WebhookList', { webhooks: Type.Array(Webhook) });

export const RotatedWebhookSecret = Named('WebhookSecret', { secret: Secret, previousValidUntil: Instant });
export type RotatedWebhookSecret = Static<typeof RotatedWebhookSecret>;

export const WebhookTest = Named('WebhookTestResult', {
  delivered: Type.Boolean(),
  status: orNull(Type.Integer({ description: 'Status of the endpoint’s response, if any', examples: [204] })),
  failure: orNull(Text('it answered 503'), null),
});
export type WebhookTest = Static<typeof WebhookTest>;

const administration = { tag: 'Webhooks', auth: 'administrator' } as const;
const changing = { ...administration, needsRecentSignIn: true } as const;
/** A webhook endpoint: reading, and changes. */
export const ofWebhook = { ...administration, params: Type.Object({ id: WebhookId }) } as const;
export const changingWebhook = { ...changing, ...ofWebhook } as const;

export const createWebhook = route('createWebhook', 'POST /admin/webhooks', {
  ...changing,
  summary: 'Create a webhook endpoint',
  description: 'It receives events from now on. Only this response has the secret.',
  body: { type: 'json', schema: NewWebhookBody },
  success: {
    status: 201,
    description: 'The new endpoint',
    schema: CreatedWebhook,
    headers: { Location: '/admin/webhooks/{id}' },
  },
  errors: ['webhook_url_refused', 'webhook_limit_reached'],
});

export const listWebhooks = route('listWebhooks', 'GET /admin/webhooks', {
  ...administration,
  summary: 'List the webhook endpoints',
  success: { status: 200, description: 'All of them, oldest first', schema: WebhookList },
});

export const getWebhook = route('getWebhook', 'GET /admin/webhooks/:id', {
  ...ofWebhook,
  summary: 'Read a webhook endpoint',
  success: { status: 200, description: 'The endpoint and the state of its deliveries', schema: Webhook },
  errors: ['webhook_not_found'],
});

export const changeWebhook = route('changeWebhook', 'PATCH /admin/webhooks/:id', {
  ...changingWebhook,
  summary: 'Change the URL or the events of a webhook endpoint',
  description:
    'A new URL gets a new secret, and nothing that an earlier one signs. Waiting deliveries stay, and go to the new URL.',
  isNarrowing: true,
  body: { type: 'json', schema: WebhookChangeBody },
  success: {
    status: 200,
    description: 'The endpoint, with its new secret if it has a new URL',
    schema: ChangedWebhook,
  },
  errors: ['webhook_not_found', 'webhook_url_refused'],
});

export const deleteWebhook = route('deleteWebhook', 'DELETE /admin/webhooks/:id', {
  ...changingWebhook,
  summary: 'Delete a webhook endpoint',
  description: 'Discards its waiting events.',
  isNarrowing: true,
  success: { status: 204, description: 'It has been deleted' },
  errors: ['webhook_not_found'],
});

export const disableWebhook = route('disableWebhook', 'POST /admin/webhooks/:id/disable', {
  ...changingWebhook,
  summary: 'Disable a webhook endpoint',
  description: 'It receives no more events. Waiting events, and events until it is enabled, are discarded.',
  isNarrowing: true,
  success: { status: 204, description: 'It is disabled' },
  errors: ['webhook_not_found'],
});

export const enableWebhook = route('enableWebhook', 'POST /admin/webhooks/:id/enable', {
  ...changingWebhook,
  summary: 'Enable a webhook endpoint',
  description: 'It receives events from now on.',
  success: { status: 204, description: 'It is enabled' },
  errors: ['webhook_not_found'],
});

export const rotateWebhookSecret = route('rotateWebhookSecret', 'POST /admin/webhooks/:id/rotate-secret', {
  ...changingWebhook,
  summary: 'Give a webhook endpoint a new secret',
  description: `For ${limits.webhookSecretOverlapSeconds / 3_600} hours each delivery is signed with both the new and the old secret.`,
  success: { status: 200, description: 'The new secret', schema: RotatedWebhookSecret },
  errors: ['webhook_not_found'],
});

export const testWebhook = route('testWebhook', 'POST /admin/webhooks/:id/test', {
  ...changingWebhook,
  summary: 'Test a webhook endpoint',
  description: 'Immediately and once. Also to a disabled endpoint.',
  success: { status: 200, description: 'The result of the delivery', schema: WebhookTest },
  errors: ['webhook_not_found'],
});

export const webhookAdminRoutes: readonly RouteContract[] = [
  createWebhook,
  listWebhooks,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  rotateWebhookSecret,
  testWebhook,
];
