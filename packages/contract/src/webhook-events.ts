/** The bodies of webhook messages: one schema for each kind of object. */
import Type, { type TSchema } from 'typebox';
import { DisabledReasonName } from './api-keys.ts';
import { Quota } from './key-limits.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { PortalPerson } from './portal-sessions.ts';
import { AccountId, Environment, Instant, KeyId, Text } from './schemas.ts';
import { SessionId } from './sessions.ts';
import { WebhookId, webhookEventTable, type WebhookEvent } from './webhooks.ts';

/** `webhook.test` has no subscription: an administrator or an operator sends it explicitly. */
export const webhookMessageTable = {
  ...webhookEventTable,
  'webhook.test': 'An administrator or an operator tests the endpoint.',
} as const satisfies Record<WebhookEvent | 'webhook.test', string>;
export type WebhookMessageType = keyof typeof webhookMessageTable;

/** The schema of the messages of some types. */
function messages<const T extends WebhookMessageType>($id: string, types: readonly T[], data: TSchema) {
  const schema: TSchema = Named($id, {
    id: Text('msg_3K9vQm1ZyT4cW8nB6pXr2L', 'The header `webhook-id`: the same in every attempt'),
    type: Type.Enum([...types]),
    timestamp: Type.String({ ...Instant, description: 'When it happened' }),
    data,
  });
  return Object.fromEntries(types.map((type) => [type, schema])) as Record<T, TSchema>;
}

const AccountEventData = Named('AccountEventData', { accountId: AccountId });
const key = { accountId: AccountId, keyId: KeyId, nickname: Text('billing worker') };
/** Who made the change on the key page, as the backend of the host stated it. */
const ofPortal = { person: Type.Optional(PortalPerson) };
const KeyEventData = Named('ApiKeyEventData', { ...key, ...ofPortal });
const CreatedKeyEventData = Named('CreatedApiKeyEventData', {
  ...key,
  createdBy: Type.Enum(['account', 'operator', 'key', 'portal'], {
    description:
      '`account`: the owner, or a person who manages the service account; `operator`: the command line; `key`: a management key; `portal`: the key page',
  }),
  ...ofPortal,
  environment: Type.Optional(
    Type.String({ ...Environment, description: 'Absent: the first environment, or there are none' }),
  ),
  program: Type.Optional(Text('acme-cli', 'The program that made the key for the account')),
});
const DisabledKeyEventData = Named('DisabledApiKeyEventData', { ...key, reason: DisabledReasonName });
const ExpiringKeyEventData = Named('ExpiringApiKeyEventData', { ...key, expiresAt: Instant });
const LeakedKeyEventData = Named('LeakedApiKeyEventData', {
  ...key,
  secret: Type.Enum(['current', 'previous', 'short_lived'], { description: '`current`: the key is disabled' }),
  reportedBy: Type.Enum(['possessor', 'github', 'operator', 'deletion_journal'], {
    description:
      '`possessor`: a client that sent the secret; `deletion_journal`: a replay ended it again after a restore, for any reporter',
  }),
});
const RotatedKeyEventData = Named('RotatedApiKeyEventData', {
  ...key,
  overlapSeconds: Type.Integer({
    minimum: 0,
    description: 'How long the previous secret is valid after `timestamp`; 0: it has ended',
    examples: [limits.rotationOverlapSeconds],
  }),
  ...ofPortal,
});
const { limit, per } = Quota.properties;
const quota = { limit, per, period: Text('2026-11', 'The day or month in UTC, or `ever`') };
const AccountQuotaEventData = Named('AccountQuotaEventData', { accountId: AccountId, ...quota });
const KeyQuotaEventData = Named('ApiKeyQuotaEventData', { ...key, ...quota });
const ManagerEventData = Named('ServiceAccountManagerEventData', { accountId: AccountId, managerId: AccountId });
const ScopeEventData = Named('ScopeEventData', { scope: Text('reports:read') });
const SessionEventData = Named('SessionEventData', { accountId: AccountId, sessionId: SessionId });
const TestEventData = Named('WebhookTestEventData', { endpointId: WebhookId });

/** The schema of each type of message. */
export const webhookMessages: Readonly<Record<WebhookMessageType, TSchema>> = {
  ...messages(
    'AccountEvent',
    [
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
    ],
    AccountEventData,
  ),
  ...messages('ApiKeyEvent', ['api_key.enabled', 'api_key.previous_ended', 'api_key.deleted'], KeyEventData),
  ...messages('CreatedApiKeyEvent', ['api_key.created'], CreatedKeyEventData),
  ...messages('DisabledApiKeyEvent', ['api_key.disabled'], DisabledKeyEventData),
  ...messages('ExpiringApiKeyEvent', ['api_key.expiring'], ExpiringKeyEventData),
  ...messages('LeakedApiKeyEvent', ['api_key.leaked'], LeakedKeyEventData),
  ...messages('RotatedApiKeyEvent', ['api_key.rotated'], RotatedKeyEventData),
  ...messages('AccountQuotaEvent', ['account.quota_reached'], AccountQuotaEventData),
  ...messages('ApiKeyQuotaEvent', ['api_key.quota_reached'], KeyQuotaEventData),
  ...messages(
    'ServiceAccountManagerEvent',
    ['service_account.manager_added', 'service_account.manager_removed'],
    ManagerEventData,
  ),
  ...messages('ScopeEvent', ['scope.set', 'scope.deleted'], ScopeEventData),
  ...messages('SessionEvent', ['session.ended', 'session.reuse_detected'], SessionEventData),
  ...messages('WebhookTestEvent', ['webhook.test'], TestEventData),
};
