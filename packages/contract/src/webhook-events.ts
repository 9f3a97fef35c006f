/** The bodies of webhook messages: one schema for each kind of object. */
import Type, { type TSchema } from 'typebox';
import { DisabledReasonName } from './api-keys.ts';
import { Quota } from './key-limits.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { AccountId, Environment, Instant, KeyId, Text } from './schemas.ts';
import { SessionId } from './sessions.ts';
import { WebhookId, webhookEventTable, type WebhookEvent } from './webhooks.ts';

/** `webhook.test` has no subscription: an administrator or an operator sends it explicitly. */
export const webhookMessageTable = {
  ...webhookEventTable,
  'webhook.test': 'An administrator or an operator tests the endpoint.',
} as const satisfies Record<WebhookEvent | 'webhook.test', string>;
export type WebhookMessageType = keyof typeof webhookMessageTable;

const strict = { additionalProperties: false } as const;

const message = ($id: string, types: readonly WebhookMessageType[], data: TSchema) =>
  Type.Object(
    {
      id: Text('msg_3K9vQm1ZyT4cW8nB6pXr2L', 'The header `webhook-id`: the same in every attempt'),
      type: Type.Enum([...types]),
      timestamp: Type.String({ ...Instant, description: 'When it happened' }),
      data,
    },
    { $id, ...strict },
  );

const accountEvents = [
  'account.created',
  'account.verified',
  'account.disabled',
  'account.enabled',
  'account.deleted',
  'account.password_changed',
  'account.email_changed',
  'account.sessions_ended',
  'account.entitlements_set',
  'service_account.created',
  'service_account.updated',
  'second_factor.added',
  'second_factor.removed',
] as const;
const keyEvents = ['api_key.enabled', 'api_key.previous_ended', 'api_key.deleted'] as const;
const createdKeyEvents = ['api_key.created'] as const;
const disabledKeyEvents = ['api_key.disabled'] as const;
const expiringKeyEvents = ['api_key.expiring'] as const;
const leakedKeyEvents = ['api_key.leaked'] as const;
const rotatedKeyEvents = ['api_key.rotated'] as const;
const accountQuotaEvents = ['account.quota_reached'] as const;
const keyQuotaEvents = ['api_key.quota_reached'] as const;
const managerEvents = ['service_account.manager_added', 'service_account.manager_removed'] as const;
const scopeEvents = ['scope.set', 'scope.deleted'] as const;
const sessionEvents = ['session.ended', 'session.reuse_detected'] as const;
const testEvents = ['webhook.test'] as const;

export const AccountEventData = Named('AccountEventData', { accountId: AccountId });
const key = { accountId: AccountId, keyId: KeyId, nickname: Text('billing worker') };
export const KeyEventData = Named('ApiKeyEventData', key);
export const CreatedKeyEventData = Named('CreatedApiKeyEventData', {
  ...key,
  createdBy: Type.Enum(['account', 'operator', 'key'], {
    description:
      '`account`: the owner, or a person who manages the service account; `operator`: the command line; `key`: a management key',
  }),
  environment: Type.Optional(
    Type.String({ ...Environment, description: 'Absent: the first environment, or there are none' }),
  ),
});
export const DisabledKeyEventData = Named('DisabledApiKeyEventData', { ...key, reason: DisabledReasonName });
export const ExpiringKeyEventData = Named('ExpiringApiKeyEventData', { ...key, expiresAt: Instant });
export const LeakedKeyEventData = Named('LeakedApiKeyEventData', {
  ...key,
  secret: Type.Enum(['current', 'previous', 'short_lived'], { description: '`current`: the key is disabled' }),
  reportedBy: Type.Enum(['possessor', 'github', 'operator', 'deletion_journal'], {
    description:
      '`possessor`: a client that sent the secret; `deletion_journal`: a replay ended it again after a restore, for any reporter',
  }),
});
export const RotatedKeyEventData = Named('RotatedApiKeyEventData', {
  ...key,
  overlapSeconds: Type.Integer({
    minimum: 0,
    description: 'How long the previous secret is valid after `timestamp`; 0: it has ended',
    examples: [limits.rotationOverlapSeconds],
  }),
});
const { limit, per } = Quota.properties;
const quota = { limit, per, period: Text('2026-11', 'The day or month in UTC, or `ever`') };
export const AccountQuotaEventData = Named('AccountQuotaEventData', { accountId: AccountId, ...quota });
export const KeyQuotaEventData = Named('ApiKeyQuotaEventData', { ...key, ...quota });
export const ManagerEventData = Named('ServiceAccountManagerEventData', { accountId: AccountId, managerId: AccountId });
export const ScopeEventData = Named('ScopeEventData', { scope: Text('reports:read') });
export const SessionEventData = Named('SessionEventData', { accountId: AccountId, sessionId: SessionId });
export const TestEventData = Named('WebhookTestEventData', { endpointId: WebhookId });

export const AccountEvent = message('AccountEvent', accountEvents, AccountEventData);
export const KeyEvent = message('ApiKeyEvent', keyEvents, KeyEventData);
export const CreatedKeyEvent = message('CreatedApiKeyEvent', createdKeyEvents, CreatedKeyEventData);
export const DisabledKeyEvent = message('DisabledApiKeyEvent', disabledKeyEvents, DisabledKeyEventData);
export const ExpiringKeyEvent = message('ExpiringApiKeyEvent', expiringKeyEvents, ExpiringKeyEventData);
export const LeakedKeyEvent = message('LeakedApiKeyEvent', leakedKeyEvents, LeakedKeyEventData);
export const RotatedKeyEvent = message('RotatedApiKeyEvent', rotatedKeyEvents, RotatedKeyEventData);
export const AccountQuotaEvent = message('AccountQuotaEvent', accountQuotaEvents, AccountQuotaEventData);
export const KeyQuotaEvent = message('ApiKeyQuotaEvent', keyQuotaEvents, KeyQuotaEventData);
export const ManagerEvent = message('ServiceAccountManagerEvent', managerEvents, ManagerEventData);
export const ScopeEvent = message('ScopeEvent', scopeEvents, ScopeEventData);
export const SessionEvent = message('SessionEvent', sessionEvents, SessionEventData);
export const TestEvent = message('WebhookTestEvent', testEvents, TestEventData);

const messagesOf = <T extends WebhookMessageType>(types: readonly T[], schema: TSchema): Record<T, TSchema> =>
  Object.fromEntries(types.map((type) => [type, schema])) as Record<T, TSchema>;

/** The schema of each type of message. */
export const webhookMessages: Readonly<Record<WebhookMessageType, TSchema>> = {
  ...messagesOf(accountEvents, AccountEvent),
  ...messagesOf(keyEvents, KeyEvent),
  ...messagesOf(createdKeyEvents, CreatedKeyEvent),
  ...messagesOf(disabledKeyEvents, DisabledKeyEvent),
  ...messagesOf(expiringKeyEvents, ExpiringKeyEvent),
  ...messagesOf(leakedKeyEvents, LeakedKeyEvent),
  ...messagesOf(rotatedKeyEvents, RotatedKeyEvent),
  ...messagesOf(accountQuotaEvents, AccountQuotaEvent),
  ...messagesOf(keyQuotaEvents, KeyQuotaEvent),
  ...messagesOf(managerEvents, ManagerEvent),
  ...messagesOf(scopeEvents, ScopeEvent),
  ...messagesOf(sessionEvents, SessionEvent),
  ...messagesOf(testEvents, TestEvent),
};
