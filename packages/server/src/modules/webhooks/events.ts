/** Which events of the audit trail endpoints are told, and what of each. */
import type { WebhookEvent } from '@keyreeve/contract';
import type { AuditAction } from '../audit/audit.ts';

/** An event of the trail, of a chain. */
export interface LoggedEvent {
  readonly chain: number;
  readonly position: number;
  /** Tells it from any other there ever was in its place. */
  readonly mac: Uint8Array;
  readonly at: number;
  readonly action: string;
  readonly accountId: string | null;
  readonly target: string | null;
  /** JSON. */
  readonly details: string | null;
}

/** What an endpoint is told about: ids, and the nickname of a key. Never an email, never a secret. */
export type EventData = Readonly<Record<string, string | number>>;

type Details = Readonly<Record<string, unknown>>;
type Describe = (event: LoggedEvent, details: Details) => EventData;

const account: Describe = ({ accountId, target }) => ({ accountId: accountId ?? target ?? '' });
const session: Describe = (event, details) => ({ ...account(event, details), sessionId: event.target ?? '' });
const key: Describe = (event, details) => ({
  ...account(event, details),
  keyId: Number(event.target),
  nickname: typeof details['nickname'] === 'string' ? details['nickname'] : '',
});

const told: Readonly<Partial<Record<AuditAction, readonly [WebhookEvent, Describe]>>> = {
  'account.created': ['account.created', account],
  'account.verified': ['account.verified', account],
  'account.disabled': ['account.disabled', account],
  'account.enabled': ['account.enabled', account],
  'account.deleted': ['account.deleted', account],
  'account.password_set': ['account.password_changed', account],
  'account.email_changed': ['account.email_changed', account],
  'account.email_change_undone': ['account.email_changed', account],
  'account.sessions_ended': ['account.sessions_ended', account],
  'second_factor.added': ['second_factor.added', account],
  'second_factor.removed': ['second_factor.removed', account],
  'api_key.created': ['api_key.created', key],
  'api_key.deleted': ['api_key.deleted', key],
  'session.ended': ['session.ended', session],
  'session.evicted': ['session.ended', session],
  'session.reuse_detected': ['session.reuse_detected', session],
};

/** @returns undefined for what no endpoint is told */
export function describe(event: LoggedEvent): { readonly type: WebhookEvent; readonly data: EventData } | undefined {
  const known = (told as Partial<Record<string, readonly [WebhookEvent, Describe]>>)[event.action];
  if (!known) return undefined;
  const details = event.details === null ? {} : (JSON.parse(event.details) as Details);
  // Whoever imports knows what; a million of them are nobody's news.
  if ('imported' in details) return undefined;
  const [type, data] = known;
  return { type, data: data(event, details) };
}
