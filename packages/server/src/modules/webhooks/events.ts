/** Which audit events are published to endpoints, and with which data. */
import type { PortalPerson, WebhookEvent } from '@keyreeve/contract';
import type { AuditAction } from '../audit/audit.ts';
import type { ChainedRow } from '../audit/chain.ts';

/** The MAC distinguishes the event from another one at the same place, which a restore can cause. */
export type LoggedEvent = ChainedRow;

/**
 * Ids, of a key the nickname and the kind of the change, and the person of a portal session, as the backend of the host stated it. Never
 * an email address, an IP address, metadata or a secret.
 */
export type EventData = Readonly<Record<string, string | number | PortalPerson>>;

type Details = Readonly<Record<string, unknown>>;
type Describe = (event: LoggedEvent, details: Details) => EventData;

const account: Describe = ({ accountId, target }) => ({ accountId: accountId ?? target ?? '' });
const session: Describe = (event, details) => ({ ...account(event, details), sessionId: event.target ?? '' });
const key: Describe = (event, details) => ({
  ...account(event, details),
  keyId: Number(event.target),
  nickname: typeof details['nickname'] === 'string' ? details['nickname'] : '',
  ...personOf(details),
});

function personOf({ person }: Details): { readonly person?: PortalPerson } {
  const { id, name } = (person ?? {}) as Partial<PortalPerson>;
  if (id === undefined) return {};
  return { person: { id, ...(typeof name === 'string' && { name }) } };
}

/** Without the id of the actor: a message contains the ids of the affected account only. */
const createdKey: Describe = (event, details) => ({
  ...key(event, details),
  createdBy: event.actor.split(':', 1)[0] ?? '',
  ...(typeof details['environment'] === 'string' ? { environment: details['environment'] } : {}),
  ...(typeof details['program'] === 'string' ? { program: details['program'] } : {}),
});
const disabledKey: Describe = (event, details) => ({ ...key(event, details), reason: String(details['reason']) });
const expiringKey: Describe = (event, details) => ({ ...key(event, details), expiresAt: String(details['expiresAt']) });
/** Without the client IP range, the place where it was found, and the hash of the secret. */
const leakedKey: Describe = (event, details) => ({
  ...key(event, details),
  secret: String(details['secret']),
  reportedBy: String(details['by']),
});
const rotatedKey: Describe = (event, details) => ({
  ...key(event, details),
  overlapSeconds: Number(details['overlapSeconds']),
});

const quota = (details: Details): EventData => ({
  limit: Number(details['limit']),
  per: String(details['per']),
  period: String(details['period']),
});
const accountQuota: Describe = (event, details) => ({ ...account(event, details), ...quota(details) });
const keyQuota: Describe = (event, details) => ({ ...key(event, details), ...quota(details) });
const manager: Describe = (event, details) => ({
  ...account(event, details),
  managerId: event.target?.split('/')[1] ?? '',
});
const scope: Describe = ({ target }) => ({ scope: target ?? '' });

const published: Readonly<Partial<Record<AuditAction, readonly [WebhookEvent, Describe]>>> = {
  'account.created': ['account.created', account],
  'account.verified': ['account.verified', account],
  'account.disabled': ['account.disabled', account],
  'account.enabled': ['account.enabled', account],
  'account.deleted': ['account.deleted', account],
  'account.password_set': ['account.password_changed', account],
  'account.email_changed': ['account.email_changed', account],
  'account.email_change_undone': ['account.email_changed', account],
  'account.quota_reached': ['account.quota_reached', accountQuota],
  'account.sessions_ended': ['account.sessions_ended', account],
  'account.entitlements_set': ['account.entitlements_set', account],
  'service_account.created': ['service_account.created', account],
  'service_account.updated': ['service_account.updated', account],
  'service_account.manager_added': ['service_account.manager_added', manager],
  'service_account.manager_removed': ['service_account.manager_removed', manager],
  'scope.set': ['scope.set', scope],
  'scope.deleted': ['scope.deleted', scope],
  'second_factor.added': ['second_factor.added', account],
  'second_factor.removed': ['second_factor.removed', account],
  'api_key.created': ['api_key.created', createdKey],
  'api_key.disabled': ['api_key.disabled', disabledKey],
  'api_key.enabled': ['api_key.enabled', key],
  'api_key.rotated': ['api_key.rotated', rotatedKey],
  'api_key.leaked': ['api_key.leaked', leakedKey],
  'api_key.expiring': ['api_key.expiring', expiringKey],
  'api_key.quota_reached': ['api_key.quota_reached', keyQuota],
  'api_key.previous_ended': ['api_key.previous_ended', key],
  'api_key.deleted': ['api_key.deleted', key],
  'session.ended': ['session.ended', session],
  'session.evicted': ['session.ended', session],
  'session.reuse_detected': ['session.reuse_detected', session],
};

/** @returns undefined for an event that is not published */
export function describe(event: LoggedEvent): { readonly type: WebhookEvent; readonly data: EventData } | undefined {
  const known = (published as Partial<Record<string, readonly [WebhookEvent, Describe]>>)[event.action];
  if (!known) return undefined;
  const details = event.details === null ? {} : (JSON.parse(event.details) as Details);
  // Imported rows are not published: a bulk import would flood subscribers.
  if ('imported' in details) return undefined;
  const [type, data] = known;
  return { type, data: data(event, details) };
}
