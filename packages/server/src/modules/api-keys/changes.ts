/** Changes of API keys that keep the secret, and rotations, which replace it. */
import { limits, type DisabledReason } from '@keyreeve/contract';
import { isRecent, type Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventsTx, type NewAuditEvent } from '../audit/audit.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { ChangeKind, Revocations } from '../deletion-journal/revocation.ts';
import { assertKeyChangeAllowed, countKeyChangeTx } from '../rate-limits/key-change-limits.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { parseAddresses } from './addresses.ts';
import * as store from './change-store.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { assertFuture } from './expiry.ts';
import { hintOf, makeKey } from './key-format.ts';
import { toMetadata } from './metadata.ts';
import { changedMembers, narrowedMembers, type ChangedMember } from './narrowing.ts';
import { validateNickname } from './nickname.ts';
import { hasReservedScope, splitScopes, validateScopes } from './scopes.ts';
import { lockOwnerTx } from './store.ts';

export interface KeyChangesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hash: KeyedHash;
  readonly prefix: string;
  /** Keys with a change of unknown outcome. */
  readonly pending: PendingChanges<number>;
  /** For the ids of rate limits. Absent for load tests. */
  readonly bucketHash: KeyedHash | undefined;
  /** Absent without a deletion journal. */
  readonly revocations?: Revocations | undefined;
}

/** Absent members stay as they are; null removes the value. */
export interface KeyChangeRequest {
  readonly nickname?: string;
  readonly scopes?: readonly string[];
  /** Milliseconds since 1970; null for never. */
  readonly expiresAt?: number | null;
  readonly disabled?: boolean;
  /** IP addresses and ranges. */
  readonly addresses?: readonly string[] | null;
  readonly metadata?: object | null;
}

export interface RotationRequest {
  readonly overlapSeconds: number;
  /** Whether the overlap of an earlier rotation ends now. */
  readonly endPrevious: boolean;
}

export interface Rotation {
  readonly key: KeyDetailsRow;
  readonly secret: Secret;
  /** Milliseconds; null without an overlap. */
  readonly previousExpiresAt: number | null;
}

/** A change that a transaction made. */
interface Made {
  /** Of the key before the change. */
  readonly revision: number;
  readonly key: KeyDetailsRow;
  /** What it takes away, for the deletion journal. */
  readonly narrowing: readonly KeyChangeKind[];
}

type KeyChangeKind = Extract<ChangeKind, 'api_key_narrowed' | 'api_key_disabled_by_administrator'>;
const narrowing = ['api_key_narrowed'] as const;

/** What a transaction does with a locked key. @returns undefined if nothing changes */
type Change = (tx: Transaction, before: KeyDetailsRow, at: number) => Promise<Made | undefined>;

export class KeyChanges {
  readonly #options: KeyChangesOptions;

  constructor(options: KeyChangesOptions) {
    this.#options = options;
  }

  /** @throws DomainError `not_key_owner`, `key_not_found` */
  async read(accountId: string, id: number): Promise<KeyDetailsRow> {
    const { db } = this.#options;
    const row = await store.findKeyDetails(db, id);
    // A missing key may have been deleted by a commit that has not reached the standby yet.
    if (row?.accountId !== accountId) await db.confirm();
    return withoutEnded(ownedBy(accountId, row), this.#options.clock.now());
  }

  /**
   * Resolves when the change is durable: every verification that starts later applies it. When the outcome of a commit that
   * takes rights away is unknown, it throws, and the change is retried in the background until it is durable.
   * @throws DomainError `nickname_invalid`, `scope_invalid`, `reserved_scope`, `reauth_required`, `nickname_taken`,
   *   `invalid_request`, `administrator_required` when an administrator has disabled the key, `not_key_owner`,
   *   `key_not_found`, `too_many_changes`, `invalid_access_token`, `unavailable`
   */
  async change(principal: Principal, accountId: string, id: number, request: KeyChangeRequest): Promise<KeyDetailsRow> {
    const now = this.#options.clock.now();
    if (request.expiresAt !== undefined) assertFuture(request.expiresAt, now);
    const fixed = {
      ...(request.nickname === undefined ? {} : { nickname: validateNickname(request.nickname) }),
      ...(request.expiresAt === undefined ? {} : { expiresAt: request.expiresAt }),
      ...(request.addresses === undefined
        ? {}
        : { addresses: request.addresses === null ? null : parseAddresses(request.addresses) }),
      ...(request.metadata === undefined ? {} : { metadata: toMetadata(request.metadata) }),
    };
    const apply = async (tx: Transaction, before: KeyDetailsRow, at: number): Promise<Made | undefined> => {
      const after = {
        ...before,
        ...fixed,
        ...(request.scopes === undefined ? {} : scopesOf(principal, before, request.scopes, now)),
        ...(request.disabled === undefined ? {} : abilityOf(principal, before, request.disabled, at)),
        updatedAt: at,
        revision: before.revision + 1,
      };
      const changed = changedMembers(before, after);
      if (changed.length === 0) return undefined;
      const narrowed = narrowedMembers(before, after);
      if (!(await store.storeChangeTx(tx, after))) throw new DomainError('nickname_taken');
      const { nickname } = after;
      const others = changed.filter((member) => member !== 'disabled');
      const event = { at, principal, accountId, target: String(id) };
      const events: NewAuditEvent[] = [];
      if (others.length > 0) {
        const scopes = changed.includes('scopes')
          ? { scopesBefore: splitScopes(before.scopes), scopes: splitScopes(after.scopes) }
          : {};
        const details = {
          nickname,
          changed: others,
          narrowed: narrowed.filter((name) => name !== 'disabled'),
          ...scopes,
        };
        events.push({ ...event, action: 'api_key.updated', details });
      }
      if (changed.includes('disabled'))
        events.push(
          after.disabledReason === null
            ? { ...event, action: 'api_key.enabled', details: { nickname } }
            : { ...event, action: 'api_key.disabled', details: { nickname, reason: after.disabledReason } },
        );
      await recordEventsTx(tx, events);
      return { revision: before.revision, key: after, narrowing: kindsOf(narrowed, after) };
    };
    const locksOwner = request.nickname !== undefined;
    return withoutEnded((await this.#make(principal, accountId, id, apply, locksOwner)).key, now);
  }

  /**
   * Replaces the secret. Without an overlap the replaced secret ends now, otherwise at the end of the overlap, which is never
   * later than the expiry of the key. When the outcome of the commit is unknown, it throws and is not retried, because the
   * caller would never receive the new secret.
   * @throws DomainError `reauth_required` for a key with a reserved scope, `overlap_in_progress`, `not_key_owner`,
   *   `key_not_found`, `too_many_changes`, `invalid_access_token`, `unavailable`
   */
  async rotate(principal: Principal, accountId: string, id: number, request: RotationRequest): Promise<Rotation> {
    const { clock, hash, prefix } = this.#options;
    const secret = makeKey(prefix);
    let previousExpiresAt: number | null = null;
    const apply = async (tx: Transaction, before: KeyDetailsRow, at: number): Promise<Made> => {
      // A stolen access token must not yield a secret with the rights of a service.
      if (hasReservedScope(splitScopes(before.scopes))) assertRecentSignIn(principal, clock.now());
      // The overlap depends on the clock and not on `at`, which another instance's clock may have moved ahead.
      const now = clock.now();
      const isOverlapping = (before.previousExpiresAt ?? 0) > now;
      if (isOverlapping && !request.endPrevious) throw new DomainError('overlap_in_progress');
      const overlapEnd = Math.min(now + request.overlapSeconds * 1000, before.expiresAt ?? Infinity);
      previousExpiresAt = overlapEnd > now ? overlapEnd : null;
      const hint = hintOf(secret);
      await store.storeRotationTx(tx, before, { hash: hash.stored(secret.reveal()), hint, previousExpiresAt }, at);
      const { nickname } = before;
      const overlapSeconds = previousExpiresAt === null ? 0 : Math.ceil((previousExpiresAt - now) / 1000);
      const details = { nickname, overlapSeconds };
      await recordEventsTx(tx, [{ at, principal, action: 'api_key.rotated', accountId, target: String(id), details }]);
      return { revision: before.revision, key: { ...before, hint, updatedAt: at }, narrowing };
    };
    const { key } = await this.#make(principal, accountId, id, apply, false, { isFinished: false });
    return { key, secret, previousExpiresAt };
  }

  /** @throws DomainError `no_previous_secret`, otherwise as {@link change} */
  async endPrevious(principal: Principal, accountId: string, id: number): Promise<void> {
    await this.#make(principal, accountId, id, async (tx, before, at) => {
      if ((before.previousExpiresAt ?? 0) <= this.#options.clock.now()) throw new DomainError('no_previous_secret');
      store.endPreviousTx(tx, id, at);
      const details = { nickname: before.nickname };
      await recordEventsTx(tx, [
        { at, principal, action: 'api_key.previous_ended', accountId, target: String(id), details },
      ]);
      return { revision: before.revision, key: { ...before, updatedAt: at }, narrowing };
    });
  }

  /** Makes a change in one transaction, with its entry in the deletion journal. */
  async #make(
    principal: Principal,
    accountId: string,
    id: number,
    apply: Change,
    locksOwner = false,
    { isFinished = true } = {},
  ): Promise<{ readonly key: KeyDetailsRow }> {
    const { db, clock, pending, bucketHash, revocations } = this.#options;
    pending.assertRoom();
    const now = clock.now();
    const caller = principal.kind === 'account' ? principal.accountId : undefined;
    const counted = bucketHash && caller !== undefined ? ([bucketHash, caller, now] as const) : undefined;
    if (counted) await assertKeyChangeAllowed(db, ...counted);
    let made: Made | undefined;
    const run = (isAllowed: boolean, seen?: Made): Promise<{ key: KeyDetailsRow; isChanged: boolean }> =>
      db.transaction(async (tx) => {
        made = undefined;
        if (isAllowed) await assertSessionValidTx(tx, principal, now);
        if (isAllowed && counted) await countKeyChangeTx(tx, ...counted);
        if (locksOwner) await lockOwnerTx(tx, accountId);
        const before = ownedBy(accountId, await store.lockKeyTx(tx, id));
        if (seen && before.revision !== seen.revision) return { key: before, isChanged: false };
        // Each change of a key has a later time than the one before, whatever the clocks of the instances: the deletion
        // journal identifies a change by its key and time.
        made = await apply(tx, before, Math.max(now, before.updatedAt + 1));
        return { key: made?.key ?? before, isChanged: made !== undefined };
      });
    let result: { key: KeyDetailsRow; isChanged: boolean };
    try {
      result = await run(true);
    } catch (error) {
      const seen: Made | undefined = made;
      if (isOutcomeUnknown(error)) {
        if (isFinished && seen && seen.narrowing.length > 0) this.#finishLater(id, seen, run);
        else revocations?.catchUpSoon();
      }
      if (isAbsence(error)) await db.confirm();
      throw error;
    }
    // The state that the response reports may not have reached the standby yet.
    if (!result.isChanged) await db.confirm();
    const at = result.key.updatedAt;
    if (made && made.narrowing.length > 0)
      await revocations?.record(made.narrowing.map((kind) => ({ kind, id: String(id), at })));
    return result;
  }

  /** Retries a change of unknown outcome until it is durable, unless the key has been changed or deleted since. */
  #finishLater(id: number, seen: Made, run: (isAllowed: boolean, seen: Made) => Promise<unknown>): void {
    const { pending, revocations } = this.#options;
    const finish = async (): Promise<void> => {
      await run(false, seen).catch((error: unknown) => {
        if (!isAbsence(error)) throw error;
      });
      revocations?.catchUpSoon();
    };
    pending.add(id, { kind: `change ${seen.revision} ${seen.key.updatedAt}`, finish });
  }
}

/** An entry for each of the change's audit events. */
const kindsOf = (narrowed: readonly ChangedMember[], { disabledReason }: KeyDetailsRow): KeyChangeKind[] => [
  ...new Set(
    narrowed.map((name) =>
      name === 'disabled' && disabledReason === 'administrator'
        ? 'api_key_disabled_by_administrator'
        : 'api_key_narrowed',
    ),
  ),
];

const isAbsence = (error: unknown): boolean =>
  error instanceof DomainError && ['key_not_found', 'not_key_owner'].includes(error.code);

/** @throws DomainError `not_key_owner`, `key_not_found` */
function ownedBy(accountId: string, row: KeyDetailsRow | undefined): KeyDetailsRow {
  if (row?.accountId === accountId) return row;
  throw new DomainError(row ? 'not_key_owner' : 'key_not_found');
}

/** A previous secret whose overlap has ended may still be stored. */
const withoutEnded = (row: KeyDetailsRow, now: number): KeyDetailsRow =>
  (row.previousExpiresAt ?? 0) > now ? row : { ...row, previousExpiresAt: null, previousLastUsedAt: null };

/** @throws DomainError `reauth_required` unless an account has signed in recently; never for other principals */
function assertRecentSignIn(principal: Principal, now: number): void {
  if (principal.kind !== 'account') return;
  if (!isRecent(now, principal.signedInAt ?? 0, limits.recentSignInSeconds * 1000))
    throw new DomainError('reauth_required');
}

/** @throws DomainError `scope_invalid`, `reserved_scope`, `reauth_required` */
function scopesOf(
  principal: Principal,
  before: KeyDetailsRow,
  scopes: readonly string[],
  now: number,
): Pick<KeyDetailsRow, 'scopes' | 'needsRole'> {
  const held = splitScopes(before.scopes);
  const text = validateScopes(principal, scopes, held).join(' ');
  if (!hasReservedScope(scopes)) return { scopes: text, needsRole: 0 };
  if (hasReservedScope(held)) return { scopes: text, needsRole: before.needsRole };
  assertRecentSignIn(principal, now);
  return { scopes: text, needsRole: principal.kind === 'account' ? 1 : 0 };
}

/** @throws DomainError `administrator_required` */
function abilityOf(
  principal: Principal,
  before: KeyDetailsRow,
  isDisabled: boolean,
  at: number,
): Pick<KeyDetailsRow, 'disabledAt' | 'disabledReason'> {
  const isOwner = principal.kind === 'account' && principal.actsAs !== 'administrator';
  const reason: DisabledReason = isOwner ? 'owner' : 'administrator';
  const { disabledAt, disabledReason } = before;
  if (!isDisabled) {
    if (isOwner && disabledReason === 'administrator')
      throw new DomainError('administrator_required', { detail: 'An administrator disabled the key.' });
    return { disabledAt: null, disabledReason: null };
  }
  // A key that an administrator disables stays disabled until an administrator enables it.
  if (disabledAt !== null && (isOwner || disabledReason === reason)) return { disabledAt, disabledReason };
  return { disabledAt: disabledAt ?? at, disabledReason: reason };
}
