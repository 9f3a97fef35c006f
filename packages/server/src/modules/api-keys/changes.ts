/** Changes of API keys that keep the secret, and rotations, which replace it. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { withoutJoiners } from '../../foundation/joiners.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { narrowing, planChange, versionOf } from './change-plan.ts';
import * as store from './change-store.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { assertMayManage, changeOfKey, checkedPrincipal, onlyDisables } from './changed-key.ts';
import { assertSameKind, noIdentity, parseIdentity, type GivenIdentity } from './client-identity.ts';
import { assertMayAdd, assertMayHandOut } from './granted-scopes.ts';
import {
  admitOperationTx,
  assertCountAllowed,
  ownedBy,
  planTx,
  timeOfChange,
  type MakePlan,
  type Operation,
  type ReplacementGuard,
} from './key-operation.ts';
import type { KeySettings } from './key-settings.ts';
import { hintOf, makeKey } from './key-format.ts';
import { changedMembers, repeatNarrowing, type Attempt, type ChangedMember } from './narrowing.ts';
import type { KeyChangeRequest, RotationRequest } from './key-request.ts';
import { isOverlapping, planRotation } from './rotation-plan.ts';
import { scopesToGrant } from './scopes.ts';
import { toShown, type ShownKey } from './shown-key.ts';
import { randomHash } from './stored-hash.ts';
import { findForCreation, lockOwnerTx } from './creation-store.ts';
import { findUses } from './use-store.ts';
import { findWithheldScopes } from './withheld-store.ts';

export interface KeyChangesOptions extends KeySettings {
  /** Keys with a change of unknown outcome. */
  readonly pending: PendingChanges<number>;
}

export interface Rotation {
  /** The key after it. */
  readonly key: KeyDetailsRow;
  readonly secret: Secret;
}

export class KeyChanges {
  readonly #options: KeyChangesOptions;

  constructor(options: KeyChangesOptions) {
    this.#options = options;
  }

  /** @throws DomainError `not_key_owner`, `key_not_found` */
  async read(accountId: string, id: number): Promise<ShownKey> {
    return this.#shown(await this.#find(accountId, id));
  }

  /**
   * Resolves when the change is durable: every verification that starts later applies it. If the outcome of the commit is
   * unknown, it throws; a change that removes rights is then retried in the background until it is durable. If the key has
   * changed since, the retry only removes the rights, except where a later change has replaced the earlier one.
   * @throws DomainError `nickname_invalid`, `scope_invalid`, `reserved_scope`, `scope_not_entitled`, `reauth_required`, `nickname_taken`,
   *   `invalid_request`, `administrator_required` when an administrator has disabled the key, `key_leaked`, `not_key_owner`,
   *   `key_not_found`, `too_many_changes`, `invalid_access_token`, `unavailable`
   */
  async change(principal: Principal, accountId: string, id: number, request: KeyChangeRequest): Promise<ShownKey> {
    const now = this.#options.clock.now();
    const changed = changeOfKey(principal, request, now, this.#options.lifetimeDaysMax);
    const plan: MakePlan = (before, at) => planChange(before, { ...changed(before), ...versionOf(before, at) });
    const plansOf = (attempt: Attempt): readonly MakePlan[] => {
      const narrow: MakePlan = (before, at) =>
        planChange(before, { ...before, ...repeatNarrowing(before, attempt), ...versionOf(before, at) });
      const repeat: MakePlan = (before, at) =>
        (before.revision === attempt.before.revision ? plan : narrow)(before, at);
      // If another key has the nickname by then, the retry removes the rights without changing the nickname.
      return [repeat, narrow];
    };
    const repetition = { kind: JSON.stringify(request), plansOf };
    const grants = scopesToGrant(principal, request.scopes ?? [], this.#options.hasCatalogue);
    const locksOwner = request.nickname !== undefined || grants.length > 0;
    const checked = checkedPrincipal(principal, accountId, request);
    const assertScopes: Operation['assertScopes'] = (reader, before) => assertMayAdd(reader, principal, before, grants);
    const operation = { principal: checked, accountId, id, now, plan, repetition, locksOwner, assertScopes };
    const after = await this.#make(onlyDisables(request) ? operation : { ...operation, countsAs: 'change' });
    return this.#shown(after);
  }

  /**
   * {@link change} in a transaction of the caller, who records the narrowing and repeats a change of unknown outcome.
   * @returns the entries of the deletion journal, and the changed members
   */
  async changeTx(
    tx: Transaction,
    { principal, now }: Act,
    { accountId, id }: Pick<Operation, 'accountId' | 'id'>,
    request: KeyChangeRequest,
  ): Promise<{ readonly recorded: readonly Revocation[]; readonly changed: readonly ChangedMember[] }> {
    const changed = changeOfKey(principal, request, now, this.#options.lifetimeDaysMax);
    const plan: MakePlan = (before, at) => planChange(before, { ...changed(before), ...versionOf(before, at) });
    const operation = { principal, accountId, id, now, plan, locksOwner: true };
    const {
      before,
      after,
      narrowing: made,
    } = await planTx(tx, operation, plan, await admitOperationTx(tx, operation, this.#options.creationLimits));
    const recorded = made.map((kind) => ({ kind, id: String(id), at: after.updatedAt }));
    return { recorded, changed: changedMembers(before, after) };
  }

  /**
   * Replaces the secret. Without an overlap, the replaced secret ends now; otherwise it ends with the overlap, which is never
   * later than the expiry of the key. If the outcome of the commit is unknown, it throws and does not retry, because the
   * caller would never receive the new secret.
   * @throws DomainError `reauth_required` for a key with a reserved scope, `overlap_in_progress`, `no_overlap_in_progress`,
   *   `invalid_request` for a key with a public key or a trust, `not_key_owner`, `key_not_found`, `too_many_changes`,
   *   `too_many_creations`, `invalid_access_token`, `unavailable`
   */
  async rotate(principal: Principal, accountId: string, id: number, request: RotationRequest): Promise<Rotation> {
    const before = await this.#find(accountId, id);
    assertSameKind(before, {});
    const { secret, stored } = this.#newSecret(before.environment);
    return { key: await this.#replace({ principal, accountId, id }, request, stored), secret };
  }

  /** @param environment of the key, which never changes */
  #newSecret(environment: string | null): { readonly secret: Secret; readonly stored: store.NewSecret } {
    const prefix = this.#options.environments.prefixOf(environment);
    const secret = makeKey(prefix);
    const hash = this.#options.hash.stored(secret.reveal());
    return { secret, stored: { hash, hint: hintOf(secret), prefix, identity: noIdentity } };
  }

  /**
   * Replaces the public key or the trust of a key that has one, like {@link rotate}.
   * @throws DomainError as `rotate`; `invalid_request` for a key of another kind, for what the key has already, and as
   *   `parseIdentity`
   */
  async rotateIdentity(
    principal: Principal,
    accountId: string,
    id: number,
    { publicKey, trust, ...request }: RotationRequest & GivenIdentity,
  ): Promise<KeyDetailsRow> {
    const before = await this.#find(accountId, id);
    assertSameKind(before, { publicKey, trust });
    const identity = await parseIdentity(this.#options.db, accountId, { publicKey, trust }, this.#options.audiences);
    const stored = { hash: randomHash(), hint: null, prefix: null, identity };
    return this.#replace({ principal, accountId, id }, request, stored);
  }

  async #replace(
    { principal, accountId, id }: Pick<Operation, 'principal' | 'accountId' | 'id'>,
    request: RotationRequest,
    secret: store.NewSecret,
  ): Promise<KeyDetailsRow> {
    const { db, clock } = this.#options;
    const now = clock.now();
    const lastUsedAt = (await findUses(db, [id])).get(id)?.lastUsedAt ?? null;
    const rotation = { principal, request, secret, lastUsedAt, now, clock };
    const plan: MakePlan = (before, at) => planRotation(rotation, before, at);
    const assertScopes: Operation['assertScopes'] = (reader, before) =>
      assertMayHandOut(reader, principal, before, this.#options.hasCatalogue);
    return this.#make({ principal, accountId, id, now, plan, assertScopes, countsAs: 'creation' });
  }

  /**
   * Replaces the secret of a key that has not changed since a time, like {@link rotate} without an overlap, for a caller that decides
   * and stores more in the same transaction.
   * @throws DomainError as `rotate`; `invalid_grant` if the key has changed
   */
  async replaceUnchanged(
    principal: Principal,
    { accountId, id }: Pick<Operation, 'accountId' | 'id'>,
    { changedAt, admitTx, storeTx }: ReplacementGuard,
  ): Promise<Rotation> {
    const { clock } = this.#options;
    const { secret, stored } = this.#newSecret((await this.#find(accountId, id)).environment);
    const now = clock.now();
    const request = { overlapSeconds: 0, endPrevious: false };
    const rotation = { principal, request, secret: stored, lastUsedAt: null, now, clock };
    const plan: MakePlan = (before, at) => {
      if (before.updatedAt !== changedAt) throw new DomainError('invalid_grant');
      const planned = planRotation(rotation, before, at);
      return {
        ...planned,
        storeTx: (tx) => {
          storeTx(tx, at);
          return planned.storeTx(tx);
        },
      };
    };
    const key = await this.#make({ principal, accountId, id, now, plan, admitTx, countsAs: 'creation' });
    return { key, secret };
  }

  /**
   * Not counted: only a counted rotation makes another previous secret.
   * @throws DomainError `no_previous_secret`, `not_key_owner`, `key_not_found`, `invalid_access_token`, `unavailable`
   */
  async endPrevious(principal: Principal, accountId: string, id: number): Promise<KeyDetailsRow> {
    const { clock } = this.#options;
    const now = clock.now();
    const plan: MakePlan = (before, at) => {
      assertMayManage(principal, before);
      if (!isOverlapping(before, clock)) throw new DomainError('no_previous_secret');
      return {
        after: { ...before, ...versionOf(before, at), previousExpiresAt: null, previousLastUsedAt: null },
        narrowing,
        events: [{ action: 'api_key.previous_ended', details: { nickname: before.nickname } }],
        storeTx: (tx) => {
          store.endPreviousTx(tx, id, at);
          return undefined;
        },
      };
    };
    // A later rotation may make another previous secret, which stays. Other changes of the key do not matter.
    const plansOf = ({ before: { previousLookup } }: Attempt): readonly MakePlan[] => [
      (before, at) => (before.previousLookup === previousLookup ? plan(before, at) : undefined),
    ];
    return this.#make({ principal, accountId, id, now, plan, repetition: { kind: 'end previous', plansOf } });
  }

  /** Makes a change in one transaction, with its entry in the deletion journal. @returns the changed key */
  async #make(operation: Operation): Promise<KeyDetailsRow> {
    const { db, pending, creationLimits } = this.#options;
    const { accountId, id, plan, repetition } = operation;
    const earlier = pending.statesOf(id) as readonly KeyDetailsRow[];
    // Rejects by reads what the transaction would reject, so that a rejected change does not occupy the writer.
    const read = await this.#find(accountId, id);
    const expected = plan(read, timeOfChange(operation, read));
    if (!expected) {
      // The state that the response reports may not have reached the standby yet.
      await db.confirm();
      return read;
    }
    await allInOrder([
      assertCountAllowed(db, operation, creationLimits),
      operation.assertScopes?.(db, read),
      this.#assertFree(accountId, read, expected.after),
    ]);
    const repeatTx = async (tx: Transaction, by: MakePlan): Promise<void> => {
      if (operation.locksOwner) await lockOwnerTx(tx, accountId);
      await planTx(tx, operation, by, await store.lockKeyTx(tx, id));
    };
    const { after } = await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        const before = await admitOperationTx(tx, operation, creationLimits);
        await operation.assertScopes?.(tx, ownedBy(accountId, before));
        return planTx(tx, operation, plan, before);
      },
      recordedOf: ({ after: { updatedAt: at }, narrowing: kinds }) =>
        kinds.map((kind) => ({ kind, id: String(id), at })),
      repetition: {
        pending,
        of: (made) => {
          if (!repetition) return [];
          const kind = `change ${made.before.revision} ${repetition.kind}`;
          const txs = repetition.plansOf({ ...made, earlier }).map((by) => (tx: Transaction) => repeatTx(tx, by));
          return [{ id, kind, after: made.after, txs }];
        },
      },
    });
    return after;
  }

  /** @throws DomainError `not_key_owner`, `key_not_found` */
  async #find(accountId: string, id: number): Promise<KeyDetailsRow> {
    const { db } = this.#options;
    const row = await store.findKeyDetails(db, id);
    // A missing key may have been deleted by a commit that has not reached the standby yet.
    if (row?.accountId !== accountId) await db.confirm();
    return ownedBy(accountId, row);
  }

  async #shown(row: KeyDetailsRow): Promise<ShownKey> {
    const { db, clock, hasCatalogue, environments } = this.#options;
    const shown = {
      ...toShown(row, await findUses(db, [row.id]), clock),
      environment: environments.nameOf(row.environment) ?? null,
    };
    if (!hasCatalogue || row.scopes === '') return shown;
    return { ...shown, withheld: (await findWithheldScopes(db, row.accountId, row.id)).get(row.id) };
  }

  /** @throws DomainError `nickname_taken` */
  async #assertFree(accountId: string, before: KeyDetailsRow, { nickname }: KeyDetailsRow): Promise<void> {
    if (withoutJoiners(nickname) === withoutJoiners(before.nickname)) return;
    const [state] = await findForCreation(this.#options.db, [[accountId, nickname]]);
    if (state && state.isTaken > 0) throw new DomainError('nickname_taken');
  }
}
