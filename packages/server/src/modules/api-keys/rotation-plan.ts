/** Plans a rotation: which of a key's secrets ends, which stays valid for the overlap, and until when. */
import { expiryTime, type Clock } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AuditDetails } from '../audit/audit.ts';
import type { Principal } from '../../foundation/principal.ts';
import { narrowing, versionOf, type Plan } from './change-plan.ts';
import { assertMayManage } from './changed-key.ts';
import * as store from './change-store.ts';
import type { KeyDetailsRow, NewSecret } from './change-store.ts';
import { assertRecentSignIn } from '../../foundation/recent-sign-in.ts';
import type { Replacement, RotationRequest } from './key-request.ts';
import { assertNewIdentity, identityDetails, replacedDetails, type ClientIdentity } from './client-identity.ts';
import { hasReservedScope, manageScope, splitScopes } from './scopes.ts';

interface Rotation {
  readonly principal: Principal;
  readonly request: RotationRequest;
  readonly secret: NewSecret;
  /** The last use of the key; null if none is known. */
  readonly lastUsedAt: number | null;
  /** When the request arrived, in milliseconds. */
  readonly now: number;
  readonly clock: Clock;
}

/**
 * @param at the time of the change, in milliseconds
 * @throws DomainError `reauth_required` for a key with a reserved scope, for a management key `reserved_scope`;
 *   `overlap_in_progress`; `no_overlap_in_progress`; `invalid_request` for the current public key or trust, and that of an
 *   overlap
 */
export function planRotation(rotation: Rotation, before: KeyDetailsRow, at: number): Plan {
  const { principal, request, secret, now, clock } = rotation;
  assertMayManage(principal, before);
  assertMayRotate(principal, before);
  assertNewIdentity(secret.identity, before, isOverlapping(before, clock) ? previousOf(before) : undefined);
  // A stolen access token must not yield a secret with the rights of a service.
  if (hasReservedScope(splitScopes(before.scopes))) assertRecentSignIn(principal, now);
  if ('endCurrent' in request) return planCurrentEnd(before, secret, clock, at);
  return before.leakedAt === null
    ? planReplacement(before, request, rotation, at)
    : planAfterLeak(before, request, rotation, at);
}

/**
 * A stolen session must not yield the secret of a management key, not even soon after the sign-in.
 * @throws DomainError `reserved_scope`
 */
function assertMayRotate(principal: Principal, { scopes }: KeyDetailsRow): void {
  if (principal.kind !== 'account' || !splitScopes(scopes).includes(manageScope)) return;
  throw new DomainError('reserved_scope', {
    detail:
      'Only an operator rotates a management key, with `keyreeve key rotate`. Otherwise create another one, and delete this one when your backend uses the other.',
  });
}

const previousOf = ({ previousPublicKey, previousTrust, previousIssuerId }: KeyDetailsRow): ClientIdentity => ({
  publicKey: previousPublicKey,
  trust: previousTrust,
  issuerId: previousIssuerId,
});

/** The current secret has ended already, so it does not become the previous one. An overlap continues. */
function planAfterLeak(before: KeyDetailsRow, { endPrevious }: Replacement, rotation: Rotation, at: number): Plan {
  const { secret, clock } = rotation;
  const isKept = isOverlapping(before, clock) && !endPrevious;
  const previous = isKept ? {} : { previousExpiresAt: null, previousLastUsedAt: null };
  const overlapSeconds = isKept ? secondsUntil(before.previousExpiresAt, expiryTime(clock, before.readAt)) : 0;
  return {
    after: { ...store.withoutLeak(before), ...versionOf(before, at), hint: secret.hint, ...previous },
    narrowing,
    events: eventsOf(before, { overlapSeconds }),
    storeTx: (tx) => {
      if (isKept) store.replaceSecretTx(tx, before, secret, at);
      else store.storeRotationTx(tx, before, { ...secret, previousExpiresAt: null, lastUsedAt: null }, at);
      return undefined;
    },
  };
}

/** A rotation enables a key that was disabled because its secret leaked. */
const eventsOf = ({ nickname, disabledReason }: KeyDetailsRow, details: AuditDetails): Plan['events'] => [
  { action: 'api_key.rotated', details: { nickname, ...details } },
  ...(disabledReason === 'leaked' ? [{ action: 'api_key.enabled', details: { nickname } } as const] : []),
];

function planReplacement(
  before: KeyDetailsRow,
  { overlapSeconds, endPrevious }: Replacement,
  { secret, lastUsedAt, now, clock }: Rotation,
  at: number,
): Plan {
  if (isOverlapping(before, clock) && !endPrevious) throw new DomainError('overlap_in_progress');
  // From the time of the request: `at` may be later, after a clock was set back.
  const overlapEnd = Math.min(now + overlapSeconds * 1000, before.expiresAt ?? Infinity);
  const previousExpiresAt = overlapEnd > now ? overlapEnd : null;
  const details = {
    nickname: before.nickname,
    overlapSeconds: secondsUntil(previousExpiresAt, now),
    ...detailsOf(before, secret),
  };
  const previous = { previousExpiresAt, previousLastUsedAt: lastUsedAt };
  return {
    after: { ...before, ...versionOf(before, at), hint: secret.hint, ...shownOf(secret), ...previous },
    narrowing,
    events: [{ action: 'api_key.rotated', details }],
    storeTx: (tx) => {
      store.storeRotationTx(tx, before, { ...secret, previousExpiresAt, lastUsedAt }, at);
      return undefined;
    },
  };
}

function planCurrentEnd(before: KeyDetailsRow, secret: NewSecret, clock: Clock, at: number): Plan {
  // Without a previous secret, the only secret that clients can have would end.
  if (!isOverlapping(before, clock)) throw new DomainError('no_overlap_in_progress');
  const overlapSeconds = secondsUntil(before.previousExpiresAt, expiryTime(clock, before.readAt));
  return {
    after: { ...store.withoutLeak(before), ...versionOf(before, at), hint: secret.hint, ...shownOf(secret) },
    narrowing,
    events: eventsOf(before, { overlapSeconds, ended: 'current', ...detailsOf(before, secret) }),
    storeTx: (tx) => {
      store.replaceSecretTx(tx, before, secret, at);
      return undefined;
    },
  };
}

const detailsOf = (before: KeyDetailsRow, { identity }: NewSecret): AuditDetails => ({
  ...replacedDetails(before),
  ...identityDetails(identity),
});

const shownOf = ({ identity }: NewSecret) => ({ ...identity, hasIssuer: identity.issuerId === null ? 0 : 1 });

const secondsUntil = (end: number | null, now: number): number => (end === null ? 0 : Math.ceil((end - now) / 1000));

/** Ignores the expiry of the key: a later expiry would make the previous secret valid again. */
export const isOverlapping = ({ previousExpiresAt, readAt }: KeyDetailsRow, clock: Clock): boolean =>
  (previousExpiresAt ?? 0) > expiryTime(clock, readAt);
