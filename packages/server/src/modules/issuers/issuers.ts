/**
 * Issuers of identity tokens: administrators and operators declare them for the keys of all accounts, and management keys for
 * those of one service account. A change that accepts fewer tokens ends the short-lived secrets that were issued for tokens of the
 * issuer: they name the version of the issuer, which every verification compares.
 */
import { hash } from 'node:crypto';
import { limits, type IssuerChangeBody, type NewIssuerBody } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { randomNumberId } from '../../foundation/number-id.ts';
import type { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { lockAdministrationTx } from '../accounts/administrators-store.ts';
import { recordEventTx, type AuditAction, type AuditDetails } from '../audit/audit.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { RecordingCore, Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { countManagedChangeTx, type ManagedChangeLimits } from '../rate-limits/key-change-limits.ts';
import { assertMayActFor, assertMayActForTx } from '../service-accounts/acting.ts';
import { lockAccountTx } from '../service-accounts/acting-store.ts';
import { findServiceAccount } from '../service-accounts/store.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { changedMembers, columnsOf, narrowedMembers, settingsOf, type IssuerSettings } from './issuer.ts';
import { changedSettings, requestedIssuer } from './issuer-request.ts';
import type { KeySets } from './key-sets.ts';
import * as store from './store.ts';
import type { CountedIssuerRow, IssuerRow } from './store.ts';

export type { CountedIssuerRow };

export interface IssuersOptions extends RecordingCore {
  readonly guard: AddressGuard;
  readonly keySets: KeySets;
  /** Undefined for load tests: the changes of management keys are not counted. */
  readonly managedChanges: ManagedChangeLimits | undefined;
}

/** An issuer, and for requests below a service account the account to which it must belong. */
export interface IssuerAt {
  readonly id: number;
  /** Undefined for administrators and operators: of any account, or a common one. */
  readonly accountId?: string;
}

/** The result of a change in a transaction of the caller, who records the narrowing. */
interface Made {
  readonly before: CountedIssuerRow;
  readonly after: CountedIssuerRow;
  readonly changed: readonly string[];
  readonly recorded: readonly Revocation[];
}

type Removed = Pick<Made, 'before' | 'recorded'>;

export class Issuers {
  /** By id: issuers with a change of unknown outcome. */
  readonly pending = new PendingChanges<number>();
  readonly keySets: KeySets;
  readonly #options: IssuersOptions;

  constructor(options: IssuersOptions) {
    this.#options = options;
    this.keySets = options.keySets;
  }

  /** Those of a service account, or the common ones; oldest first. @throws DomainError `account_not_found` */
  async list(principal: Principal, accountId: string | null): Promise<CountedIssuerRow[]> {
    const { db } = this.#options;
    if (accountId !== null) await assertMayActFor(db, principal, accountId);
    return store.listIssuers(db, accountId);
  }

  /** @throws DomainError `account_not_found`, `issuer_not_found` */
  async find(principal: Principal, { id, accountId }: IssuerAt): Promise<CountedIssuerRow> {
    const { db } = this.#options;
    if (accountId !== undefined) await assertMayActFor(db, principal, accountId);
    return visible(await store.findCountedIssuer(db, id), accountId);
  }

  /**
   * @param accountId of a service account; null: keys of all accounts may trust the issuer
   * @throws DomainError `issuer_url_refused`, `invalid_request`, `issuer_taken`, `issuer_limit_reached`, `account_not_found`,
   *   `too_many_changes`, `invalid_access_token`, `invalid_management_key`
   */
  async add(principal: Principal, accountId: string | null, request: NewIssuerBody): Promise<CountedIssuerRow> {
    const { db, clock } = this.#options;
    const now = clock.now();
    const storeTx = this.prepare({ principal, now }, { id: randomNumberId(), accountId }, request);
    if (accountId !== null) await assertMayActFor(db, principal, accountId);
    return db.transaction(storeTx);
  }

  /** {@link add} in a transaction of the caller, with an id that the caller chose. @throws DomainError as `add` */
  prepare(
    { principal, now }: Act,
    { id, accountId }: Pick<IssuerRow, 'id' | 'accountId'>,
    request: NewIssuerBody,
  ): (tx: Transaction) => Promise<CountedIssuerRow> {
    const { url, preset, settings } = requestedIssuer(request, this.#options.guard);
    const times = { createdAt: now, updatedAt: now };
    const row = { id, accountId, url, preset, ...columnsOf(settings), version: 1, refreshes: 0, ...times };
    const issuersMax = accountId === null ? limits.issuersMax : limits.issuersPerAccountMax;
    return async (tx) => {
      await this.#assertMayChangeTx(tx, { principal, now }, accountId);
      await this.#countTx(tx, { principal, now });
      if ((await store.countIssuersTx(tx, accountId)) >= issuersMax) throw new DomainError('issuer_limit_reached');
      if (!(await store.insertIssuerTx(tx, row))) throw new DomainError('issuer_taken');
      const details = { url, preset, ...shownSettings(settings) };
      await recordTx(tx, { principal, now }, row, { action: 'issuer.created', details });
      return { ...row, keyCount: 0 };
    };
  }

  /**
   * Resolves when the change is durable. After a narrowing, every verification that starts later rejects the short-lived secrets
   * that were issued for tokens of the issuer. A change of unknown outcome throws, and a narrowing is repeated in the background.
   * @throws DomainError `issuer_not_found`, `issuer_url_refused`, `invalid_request`, `account_not_found`, `too_many_changes`,
   *   `invalid_access_token`, `invalid_management_key`, `unavailable`
   */
  async change(principal: Principal, at: IssuerAt, request: IssuerChangeBody): Promise<CountedIssuerRow> {
    const { clock } = this.#options;
    const act = { principal, now: clock.now() };
    const { after } = await runNarrowing(this.#options, {
      read: async () => void (await this.find(principal, at)),
      changeTx: (tx) => this.changeTx(tx, act, at, request),
      recordedOf: ({ recorded }) => recorded,
      repetition: {
        pending: this.pending,
        of: ({ before }) => {
          const { id, updatedAt } = before;
          const repeatTx = async (tx: Transaction): Promise<void> => {
            const found = await store.lockIssuerTx(tx, id);
            if (!found) return;
            await this.#changeTx(tx, act, found, withoutReplaced(request, settingsOf(before), settingsOf(found)));
          };
          return [{ id, kind: `change ${updatedAt} ${JSON.stringify(request)}`, txs: [repeatTx] }];
        },
      },
    });
    return after;
  }

  /** {@link change} in a transaction of the caller, who records the narrowing. @throws DomainError as `change` */
  async changeTx(tx: Transaction, act: Act, at: IssuerAt, request: IssuerChangeBody): Promise<Made> {
    await this.#assertMayChangeTx(tx, act, at.accountId);
    await this.#countTx(tx, act);
    return this.#changeTx(tx, act, await lockTx(tx, at), request);
  }

  async #changeTx(tx: Transaction, act: Act, before: CountedIssuerRow, request: IssuerChangeBody): Promise<Made> {
    const earlier = settingsOf(before);
    const settings = changedSettings(before.url, earlier, request, this.#options.guard);
    const changed = changedMembers(earlier, settings);
    if (changed.length === 0) return { before, after: before, changed, recorded: [] };
    const narrowed = narrowedMembers(earlier, settings);
    const updatedAt = Math.max(act.now, before.updatedAt + 1);
    const version = before.version + (narrowed.length > 0 ? 1 : 0);
    const after = { ...before, ...columnsOf(settings), version, updatedAt };
    await store.updateIssuerTx(tx, after);
    const only = (all: AuditDetails): AuditDetails => Object.fromEntries(changed.map((name) => [name, all[name]]));
    const details = { narrowed, before: only(shownSettings(earlier)), after: only(shownSettings(settings)) };
    await recordTx(tx, { ...act, now: updatedAt }, before, { action: 'issuer.updated', details });
    const entry = { kind: 'issuer_narrowed', id: String(before.id), at: updatedAt } as const;
    return { before, after, changed, recorded: narrowed.length > 0 ? [entry] : [] };
  }

  /**
   * Resolves when the removal is durable: every verification that starts later rejects the short-lived secrets that were issued
   * for tokens of the issuer.
   * @returns the removed issuer
   * @throws DomainError `issuer_not_found`, `account_not_found`, `invalid_access_token`, `invalid_management_key`, `unavailable`
   */
  async remove(principal: Principal, at: IssuerAt): Promise<CountedIssuerRow> {
    const { clock } = this.#options;
    const act = { principal, now: clock.now() };
    const { before } = await runNarrowing(this.#options, {
      read: async () => void (await this.find(principal, at)),
      changeTx: (tx) => this.removeTx(tx, act, at),
      recordedOf: ({ recorded }) => recorded,
      repetition: {
        pending: this.pending,
        // The id is never used again.
        of: () => [{ id: at.id, kind: 'remove', txs: [(tx: Transaction) => removeTx(tx, act, at)] }],
      },
    });
    return before;
  }

  /** {@link remove} in a transaction of the caller, who records the narrowing. @throws DomainError as `remove` */
  async removeTx(tx: Transaction, act: Act, at: IssuerAt): Promise<Removed> {
    await this.#assertMayChangeTx(tx, act, at.accountId);
    return removeTx(tx, act, at);
  }

  /**
   * Every exchange that starts after this call has resolved, on every instance, uses a JWK set that was fetched after the call.
   * @returns the ids of its keys, or why it cannot be fetched
   * @throws DomainError `issuer_not_found`, `invalid_access_token`
   */
  async refresh(principal: Principal, id: number): ReturnType<KeySets['show']> {
    const { db, clock } = this.#options;
    const refreshed = await db.transaction(async (tx) => {
      const now = clock.now();
      await assertSessionValidTx(tx, { principal, now });
      const before = await lockTx(tx, { id });
      await store.raiseRefreshesTx(tx, id);
      await recordTx(tx, { principal, now }, before, { action: 'issuer.refreshed', details: {} });
      return { ...before, refreshes: before.refreshes + 1 };
    });
    return this.keySets.show(refreshed);
  }

  /** Also takes the lock under which issuers of the account, or common ones, are counted. */
  async #assertMayChangeTx(tx: Transaction, act: Act, accountId: string | null | undefined): Promise<void> {
    const { principal, now } = act;
    if (typeof accountId !== 'string') {
      await assertSessionValidTx(tx, { principal, now });
      return lockAdministrationTx(tx);
    }
    await assertMayActForTx(tx, principal, accountId, now);
    await lockAccountTx(tx, accountId);
    if (!(await findServiceAccount(tx, accountId))) throw new DomainError('account_not_found');
  }

  async #countTx(tx: Transaction, { principal, now }: Act): Promise<void> {
    await countManagedChangeTx(tx, this.#options.managedChanges, principal, now);
  }
}

async function removeTx(tx: Transaction, act: Act, at: IssuerAt): Promise<Removed> {
  const before = await lockTx(tx, at);
  const now = Math.max(act.now, before.updatedAt + 1);
  await store.removeIssuerTx(tx, at.id);
  const details = { url: before.url, keys: before.keyCount };
  await recordTx(tx, { ...act, now }, before, { action: 'issuer.removed', details });
  return { before, recorded: [{ kind: 'issuer_removed', id: String(at.id), at: now }] };
}

/** For a repetition of a change: without the members that have changed since, by this change or by a later one. */
function withoutReplaced(request: IssuerChangeBody, before: IssuerSettings, found: IssuerSettings): IssuerChangeBody {
  const replaced = new Set<string>(changedMembers(before, found));
  return Object.fromEntries(Object.entries(request).filter(([name]) => !replaced.has(name)));
}

/** @throws DomainError `issuer_not_found` */
async function lockTx(tx: Transaction, { id, accountId }: IssuerAt): Promise<CountedIssuerRow> {
  return visible(await store.lockIssuerTx(tx, id), accountId);
}

/** @throws DomainError `issuer_not_found` also for the issuer of another account */
function visible(row: CountedIssuerRow | undefined, accountId: string | undefined): CountedIssuerRow {
  if (row && (accountId === undefined || row.accountId === accountId)) return row;
  throw new DomainError('issuer_not_found');
}

/** @param now the time of the event */
const recordTx = (
  tx: Transaction,
  { principal, now }: Act,
  { id, accountId }: Pick<IssuerRow, 'id' | 'accountId'>,
  event: { readonly action: AuditAction; readonly details: AuditDetails },
): Promise<void> =>
  recordEventTx(tx, { at: now, principal, target: String(id), ...(accountId === null ? {} : { accountId }), ...event });

/** For audit events: a fixed JWK set as its SHA-256 in base64url. */
const shownSettings = ({ jwks, ...settings }: IssuerSettings): AuditDetails => ({
  ...settings,
  jwks: jwks && hash('sha256', JSON.stringify(jwks), 'base64url'),
});
