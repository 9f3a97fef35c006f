/** Computes what a requested change makes of a key, and checks each member of the request. */
import type { DisabledReason } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { assertRecentSignIn } from '../../foundation/recent-sign-in.ts';
import { parseAddresses } from './addresses.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { assertExpiry } from './expiry.ts';
import { assertInSession } from './granted-scopes.ts';
import type { KeyChangeRequest } from './key-request.ts';
import { mergeMetadata } from './metadata.ts';
import { isWidened } from './narrowing.ts';
import { mergeLimits } from '../key-limits/definition.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import {
  assertFirstEnvironment,
  assertNoReservedScope,
  hasReservedScope,
  manageScope,
  splitScopes,
  validateScopes,
} from './scopes.ts';

/** @returns the key after the change, without its new time of change */
export type ChangeOfKey = (before: KeyDetailsRow) => KeyDetailsRow;

/**
 * Checks what does not depend on the key.
 * @param lifetimeDaysMax KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit
 * @returns the change, which throws DomainError `scope_invalid`, `reserved_scope`, `reauth_required`,
 *   `administrator_required`, `key_leaked`, `invalid_request`
 * @throws DomainError `nickname_invalid`, `invalid_request`
 */
export function changeOfKey(
  principal: Principal,
  request: KeyChangeRequest,
  now: number,
  lifetimeDaysMax: number,
): ChangeOfKey {
  const { nickname, scopes, expiresAt, disabled, addresses, limits: limitsPatch, metadata } = request;
  if (expiresAt !== undefined) assertExpiry(expiresAt, now, lifetimeDaysMax);
  const fixed = {
    ...(nickname === undefined ? {} : { nickname: validateNickname(nickname) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(addresses === undefined ? {} : { addresses: addresses === null ? null : parseAddresses(addresses) }),
  };
  return (before) => {
    if (!onlyDisables(request) || principal.kind === 'portal') assertMayManage(principal, before);
    const after = {
      ...before,
      ...fixed,
      ...(scopes === undefined ? {} : scopesOf(principal, before, scopes, now)),
      ...(disabled === undefined ? {} : abilityOf(principal, before, disabled, now)),
      ...(limitsPatch === undefined ? {} : { limits: mergeLimits(before.limits, limitsPatch) }),
      ...(metadata === undefined ? {} : { metadata: mergeMetadata(before.metadata, metadata) }),
    };
    // A stolen access token must not make the secret of a service valid again, or in other networks.
    if (hasReservedScope(splitScopes(after.scopes)) && isWidened(before, after)) assertRecentSignIn(principal, now);
    assertBoundsKept(principal, before, after);
    return after;
  };
}

/**
 * A stolen session must not make a stolen secret of a management key valid in other networks or for longer, not even soon after the
 * sign-in.
 * @throws DomainError `reserved_scope`
 */
function assertBoundsKept(principal: Principal, before: KeyDetailsRow, { addresses, expiresAt }: KeyDetailsRow): void {
  if (principal.kind !== 'account' || !splitScopes(before.scopes).includes(manageScope)) return;
  if (!isWidened(before, { ...before, addresses, expiresAt })) return;
  throw new DomainError('reserved_scope', {
    detail:
      'A session does not give a management key other IP ranges or a later expiry. Create another management key.',
  });
}

/**
 * Whether the request is not counted. A client with a stolen access token could otherwise use up the limit, so that the
 * owner cannot disable the key. Only a counted request enables it again.
 */
export const onlyDisables = (request: KeyChangeRequest): boolean =>
  request.disabled === true && Object.keys(request).length === 1;

/**
 * The principal whose session the transaction checks: whether an administrator who sets a reserved scope on a key of the
 * administrator's own account still is one.
 */
export const checkedPrincipal = (
  principal: Principal,
  accountId: string,
  { scopes = [] }: KeyChangeRequest,
): Principal =>
  principal.kind === 'account' &&
  principal.role === 'admin' &&
  principal.accountId === accountId &&
  hasReservedScope(scopes)
    ? { ...principal, actsAs: 'administrator' }
    : principal;

/**
 * A management key that leaks must not yield the rights of a service or of another management key: it can only disable or
 * delete a key that has a reserved scope. For a portal session, such a key does not exist.
 * @throws DomainError `reserved_scope`, `key_not_found`
 */
export function assertMayManage(principal: Principal, { scopes }: Pick<KeyDetailsRow, 'scopes'>): void {
  if (principal.kind !== 'key' && principal.kind !== 'portal') return;
  if (hasReservedScope(splitScopes(scopes)))
    throw new DomainError(principal.kind === 'key' ? 'reserved_scope' : 'key_not_found');
}

/** @throws DomainError `scope_invalid`, `reserved_scope`, `scope_not_entitled`, `invalid_request`, `reauth_required` */
function scopesOf(
  principal: Principal,
  before: KeyDetailsRow,
  scopes: readonly string[],
  now: number,
): Pick<KeyDetailsRow, 'scopes' | 'needsRole'> {
  if (before.publicKey !== null || before.trust !== null) assertNoReservedScope(scopes);
  const held = splitScopes(before.scopes);
  const text = validateScopes(principal, before.accountId, scopes, held).join(' ');
  assertInSession(principal, scopes);
  if (!hasReservedScope(scopes)) return { scopes: text, needsRole: 0 };
  const added = scopes.filter((scope) => !held.includes(scope));
  if (!hasReservedScope(added)) return { scopes: text, needsRole: before.needsRole };
  assertFirstEnvironment(scopes, before.environment);
  assertRecentSignIn(principal, now);
  return { scopes: text, needsRole: principal.kind === 'account' ? 1 : 0 };
}

/** @throws DomainError `key_leaked`, `administrator_required` */
function abilityOf(
  principal: Principal,
  before: KeyDetailsRow,
  isDisabled: boolean,
  now: number,
): Pick<KeyDetailsRow, 'disabledAt' | 'disabledReason'> {
  const isOwner =
    principal.kind === 'key' ||
    principal.kind === 'portal' ||
    (principal.kind === 'account' && principal.actsAs !== 'administrator');
  const reason: DisabledReason = isOwner ? 'owner' : 'administrator';
  const { disabledAt, disabledReason } = before;
  if (!isDisabled) {
    // No secret is valid until a rotation.
    if (before.leakedAt !== null) throw new DomainError('key_leaked');
    if (isOwner && disabledReason === 'administrator')
      throw new DomainError('administrator_required', {
        detail: 'An administrator disabled the key; only an administrator or an operator enables it.',
      });
    return { disabledAt: null, disabledReason: null };
  }
  // A key that an administrator disables stays disabled until an administrator enables it. A rotation does not enable a leaked
  // key that is disabled explicitly.
  const isKept = disabledReason !== 'leaked' && (isOwner || disabledReason === reason);
  if (disabledAt !== null && isKept) return { disabledAt, disabledReason };
  return { disabledAt: disabledAt ?? now, disabledReason: reason };
}
