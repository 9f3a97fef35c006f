/**
 * Programs that sign in as a device and get an API key. Administrators and operators declare them. A removed program ends its
 * outstanding requests in the same commit, because their rows refer to it; a narrowed one is compared at the poll, in the transaction
 * that would create the key.
 */
import { limits, type NewProgramBody, type ProgramChangeBody } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { fold } from '../../foundation/fold.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { lockAdministrationTx } from '../accounts/administrators-store.ts';
import { finishDeletionTx } from '../api-keys/deletion-store.ts';
import {
  countProgramKeys,
  deleteProgramKeysTx,
  listRemovedPrograms,
  type DeletedKey,
  type RemovedProgramRow,
} from '../api-keys/program-key-store.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import { recordEventsTx, recordEventTx, type AuditDetails } from '../audit/audit.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import { keyDeletions, type RecordingCore, type Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import {
  changedMembers,
  changedSettings,
  narrowedMembers,
  newSettings,
  withoutReplaced,
  type ProgramSettings,
} from './program.ts';
import * as store from './store.ts';
import type { CountedProgramRow, ProgramRow } from './store.ts';

export interface ProgramsOptions extends RecordingCore {
  /** Of API keys: this instance answers 503 for those whose deletion has an unknown outcome. */
  readonly pendingKeys: PendingChanges<number>;
}

/** The result of a change in a transaction of the caller, who records the narrowing. */
interface Made {
  readonly before: ProgramRow;
  readonly after: ProgramRow;
  readonly changed: readonly string[];
  readonly recorded: readonly Revocation[];
}

export interface Removal {
  readonly deletedKeys: number;
  readonly remainingKeys: number;
}

const keysPerCommitMax = 500;

export class Programs {
  /** By id: programs with a change of unknown outcome. */
  readonly pending = new PendingChanges<string>();
  readonly #options: ProgramsOptions;

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** By id. */
  list(): Promise<CountedProgramRow[]> {
    return store.listPrograms(this.#options.db);
  }

  /** Programs that were removed and still have keys, by id; at most `limits.programsMax`. */
  listRemoved(): Promise<RemovedProgramRow[]> {
    return listRemovedPrograms(this.#options.db, limits.programsMax);
  }

  /** @throws DomainError `program_not_found` */
  async find(id: string): Promise<CountedProgramRow> {
    return existing(await store.findCountedProgram(this.#options.db, id));
  }

  /**
   * @throws DomainError `invalid_request`, `nickname_invalid`, `scope_invalid`, `reserved_scope`, `program_taken`,
   *   `program_limit_reached`, `invalid_access_token`
   */
  async add(principal: Principal, body: NewProgramBody): Promise<CountedProgramRow> {
    const { db, clock } = this.#options;
    const act = { principal, now: clock.now() };
    const addTx = this.prepare(act, body);
    await db.transaction(async (tx) => {
      await assertSessionValidTx(tx, act);
      await addTx(tx);
    });
    // Keys of an earlier program with the id count.
    return this.find(body.id);
  }

  /** {@link add} in a transaction of the caller. @throws DomainError as `add` */
  prepare({ principal, now }: Act, body: NewProgramBody): (tx: Transaction) => Promise<void> {
    const settings = newSettings(principal, body);
    const row: ProgramRow = { id: body.id, ...settings, createdAt: now, updatedAt: now };
    return async (tx) => {
      await lockAdministrationTx(tx);
      if ((await store.countProgramsTx(tx)) >= limits.programsMax) throw new DomainError('program_limit_reached');
      await assertOwnNameTx(tx, row);
      if (!(await store.insertProgramTx(tx, row))) throw new DomainError('program_taken');
      await recordEventTx(tx, { at: now, principal, action: 'program.created', target: row.id, details: shown(row) });
    };
  }

  /**
   * Resolves when the change is durable: every poll that starts later applies it.
   * @throws DomainError `program_not_found`, and as {@link add}; `unavailable`
   */
  async change(principal: Principal, id: string, body: ProgramChangeBody): Promise<CountedProgramRow> {
    const act = { principal, now: this.#options.clock.now() };
    await runNarrowing(this.#options, {
      read: async () => void (await this.find(id)),
      changeTx: async (tx) => {
        await assertSessionValidTx(tx, act);
        return this.changeTx(tx, act, id, body);
      },
      recordedOf: ({ recorded }) => recorded,
      repetition: {
        pending: this.pending,
        of: ({ before }) => {
          const repeatTx = async (tx: Transaction): Promise<void> => {
            const found = await lockTx(tx, id);
            // Not of one that was added later with the same id.
            if (found?.createdAt !== before.createdAt) return;
            await changeLockedTx(tx, act, found, withoutReplaced(body, before, found));
          };
          return [{ id, kind: `change ${before.updatedAt} ${JSON.stringify(body)}`, txs: [repeatTx] }];
        },
      },
    });
    return this.find(id);
  }

  /** {@link change} in a transaction of the caller, who records the narrowing. @throws DomainError as `change` */
  async changeTx(tx: Transaction, act: Act, id: string, body: ProgramChangeBody): Promise<Made> {
    const { name } = body;
    const found = existing(await lockTx(tx, id));
    if (name !== undefined) await assertOwnNameTx(tx, { id, name });
    return changeLockedTx(tx, act, found, body);
  }

  /**
   * Resolves when the removal is durable: every poll that starts later is rejected. With its keys, every verification that starts later
   * rejects those that were deleted.
   * @param deletesKeys also of a program that was removed before; at most `limits.programKeysPerRemovalMax`
   * @throws DomainError `program_not_found`, `invalid_access_token`, `unavailable`; some keys may be deleted then
   */
  async remove(principal: Principal, id: string, deletesKeys: boolean): Promise<Removal> {
    const { db, clock } = this.#options;
    const act = { principal, now: clock.now() };
    const exists = (await store.findProgram(db, id)) !== undefined;
    if (exists || !deletesKeys || (await countProgramKeys(db, id)) === 0) await this.#removeProgram(act, id);
    let deletedKeys = 0;
    let deleted = deletesKeys ? keysPerCommitMax : 0;
    while (deleted === keysPerCommitMax && deletedKeys < limits.programKeysPerRemovalMax) {
      deleted = await this.#deleteKeys(principal, id);
      deletedKeys += deleted;
    }
    return { deletedKeys, remainingKeys: await countProgramKeys(db, id) };
  }

  async #removeProgram(act: Act, id: string): Promise<void> {
    await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        await assertSessionValidTx(tx, act);
        return this.removeTx(tx, act, id);
      },
      recordedOf: (recorded) => recorded,
      repetition: {
        pending: this.pending,
        of: ([{ at } = { at: 0 }]) => {
          const repeatTx = async (tx: Transaction): Promise<void> => {
            const found = await lockTx(tx, id);
            // Not one that was added later with the same id.
            if (found && found.createdAt < at) await removeLockedTx(tx, act, found);
          };
          return [{ id, kind: `remove ${at}`, txs: [repeatTx] }];
        },
      },
    });
  }

  /** The removal of a program in a transaction of the caller, who records it. @throws DomainError `program_not_found` */
  async removeTx(tx: Transaction, act: Act, id: string): Promise<readonly Revocation[]> {
    return removeLockedTx(tx, act, existing(await lockTx(tx, id)));
  }

  /** Deletes some keys. No key is made for a program that has been removed. @returns their number */
  async #deleteKeys(principal: Principal, program: string): Promise<number> {
    const act = { principal, now: this.#options.clock.now() };
    const { now } = act;
    const deleted = await runNarrowing<number, readonly DeletedKey[]>(this.#options, {
      changeTx: async (tx) => {
        await assertSessionValidTx(tx, act);
        const keys = await deleteProgramKeysTx(tx, program, keysPerCommitMax);
        await recordEventsTx(
          tx,
          keys.map(({ id, accountId, nickname }) => {
            const details = { nickname, program };
            return { at: now, principal, action: 'api_key.deleted', accountId, target: String(id), details } as const;
          }),
        );
        return keys;
      },
      isLong: true,
      recordedOf: (keys) =>
        keyDeletions(
          keys.map(({ id }) => id),
          now,
        ),
      repetition: {
        pending: this.#options.pendingKeys,
        of: (keys) =>
          keys.map(({ id, accountId }) => {
            const finishTx = (tx: Transaction): Promise<void> => finishDeletionTx(tx, act, accountId, id);
            return { id, kind: 'delete', txs: [finishTx] };
          }),
      },
    });
    return deleted.length;
  }
}

/** People know a program by its name. Under {@link lockAdministrationTx}. @throws DomainError `invalid_request` */
async function assertOwnNameTx(tx: Transaction, { id, name }: Pick<ProgramRow, 'id' | 'name'>): Promise<void> {
  const others = await store.listNamesTx(tx);
  if (others.some((other) => other.id !== id && fold(other.name) === fold(name)))
    throw invalidAt('/name', 'Another program has this name.', { code: 'repeated' });
}

/** The administration first, as in an addition: a file that is applied meanwhile waits. */
async function lockTx(tx: Transaction, id: string): Promise<ProgramRow | undefined> {
  await lockAdministrationTx(tx);
  return store.lockProgramTx(tx, id);
}

async function changeLockedTx(
  tx: Transaction,
  { principal, now }: Act,
  before: ProgramRow,
  body: ProgramChangeBody,
): Promise<Made> {
  const settings = changedSettings(principal, before, body);
  const changed = changedMembers(before, settings);
  if (changed.length === 0) return { before, after: before, changed, recorded: [] };
  const narrowed = narrowedMembers(before, settings);
  const updatedAt = Math.max(now, before.updatedAt + 1);
  const after = { ...before, ...settings, updatedAt };
  await store.updateProgramTx(tx, after);
  const only = (all: AuditDetails): AuditDetails => Object.fromEntries(changed.map((name) => [name, all[name]]));
  const details = { narrowed, before: only(shown(before)), after: only(shown(after)) };
  await recordEventTx(tx, { at: updatedAt, principal, action: 'program.updated', target: before.id, details });
  const entry = { kind: 'program_narrowed', id: before.id, at: updatedAt } as const;
  return { before, after, changed, recorded: narrowed.length > 0 ? [entry] : [] };
}

async function removeLockedTx(tx: Transaction, act: Act, before: ProgramRow): Promise<readonly Revocation[]> {
  const at = Math.max(act.now, before.updatedAt + 1);
  await store.removeProgramTx(tx, before.id);
  const details = shown(before);
  await recordEventTx(tx, { at, principal: act.principal, action: 'program.removed', target: before.id, details });
  return [{ kind: 'program_removed', id: before.id, at }];
}

/** @throws DomainError `program_not_found` */
function existing<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new DomainError('program_not_found');
  return row;
}

const shown = ({ name, scopes, lifetimeSeconds }: ProgramSettings): AuditDetails => ({
  name,
  scopes: splitScopes(scopes),
  lifetimeSeconds,
});
