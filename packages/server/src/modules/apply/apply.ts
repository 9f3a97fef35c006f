/**
 * `keyreeve apply`: gives an installation what a file states. One transaction makes all changes, so a killed process has applied
 * the file or nothing of it, and of several processes one applies it (docs/decisions/06-scopes-and-service-accounts.md).
 */
import type { Transaction } from '../../foundation/database/db.ts';
import { lookupOf, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { toBase62 } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { lockAdministrationTx } from '../accounts/administrators-store.ts';
import { recordEventTx } from '../audit/audit.ts';
import { collectingEventsTx } from '../audit/store.ts';
import type { RecordingCore, Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { ApplyError, refusal } from './apply-error.ts';
import { problemsOf, type EntryKind, type FileEntry, type LoadedFile } from './file.ts';
import { kinds, type ObjectServices, type Run, type State } from './objects.ts';
import { findIssuersFor } from '../issuers/store.ts';
import * as store from './store.ts';

export interface ApplyOptions extends RecordingCore, ObjectServices {
  /** Of API keys: ids of objects derive with it, and stay the same after a rotation of the root key. */
  readonly hash: KeyedHash;
}

export interface ApplyMode {
  /** Rolls back at the end. */
  readonly isDryRun?: boolean;
  /** Deletes what apply created and the file does not name. */
  readonly prunes?: boolean;
  /** At a start, a file that was applied before changes nothing, whatever has changed since. */
  readonly isStart?: boolean;
}

export interface ApplyStep {
  /** `keep_deleted`: it was deleted, and is not created again. */
  readonly change: 'create' | 'change' | 'delete' | 'keep_deleted';
  readonly kind: EntryKind;
  /** As in the file; for an entry that the file does not name, the id of the object. */
  readonly name: string;
  /** Of the object; the name of a scope. */
  readonly id: string;
  /** Of a change: the members that had other values. */
  readonly members?: readonly string[];
}

export interface Applied {
  readonly generation: number;
  /** False if the file was applied before, at a start. */
  readonly isApplied: boolean;
  readonly steps: readonly ApplyStep[];
}

interface Made extends Applied {
  readonly recorded: readonly Revocation[];
  readonly afterCommit: ReadonlySet<() => void>;
}

/** Rolls back a dry run. */
class DryRun extends Error {
  readonly made: Made;

  constructor(made: Made) {
    super('dry run');
    this.made = made;
  }
}

/** Keys first: the deletion of a service account deletes its keys without a step for each. */
const removalOrder = [
  'key',
  'webhook',
  'program',
  'issuer',
  'scope',
  'service_account',
  'account',
] as const satisfies EntryKind[];

export class Apply {
  readonly #options: ApplyOptions;

  constructor(options: ApplyOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the changes are durable and the deletion journal has those that remove rights. A change of unknown outcome is
   * repeated by the caller, with the same file.
   * @throws ApplyError if the file must not be applied; DomainError `unavailable`
   */
  async run(principal: Principal, file: LoadedFile, mode: ApplyMode = {}): Promise<Applied> {
    try {
      const made = await runNarrowing<string, Made>(this.#options, {
        changeTx: async (tx) => {
          const result = await collectingEventsTx(tx, 'apply', () => this.#applyTx(tx, principal, file, mode));
          if (mode.isDryRun === true) throw new DryRun(result);
          return result;
        },
        recordedOf: ({ recorded }) => recorded,
        // Another instance may apply the file for seconds, and this one waits.
        isLong: true,
      });
      for (const notify of made.afterCommit) notify();
      return shown(made);
    } catch (error) {
      if (error instanceof DryRun) return shown(error.made);
      throw error;
    }
  }

  async #applyTx(tx: Transaction, principal: Principal, file: LoadedFile, mode: ApplyMode): Promise<Made> {
    const { clock } = this.#options;
    const { generation, digest } = file;
    const last = await store.lockFileTx(tx);
    assertNotOlder(file, last);
    const now = clock.now();
    const run: Run = {
      tx,
      principal,
      now,
      services: this.#options,
      recorded: [],
      afterCommit: new Set(),
      owners: new Map(),
    };
    const isKnown = generation === last.generation;
    if (isKnown && mode.isStart === true) return { generation, isApplied: false, steps: [], ...run };
    // Administrators and the command line change the same objects: what the file finds must not change before it is changed.
    await lockAdministrationTx(tx);
    const entries = file.entries.map((entry) => ({ entry, id: this.#idOf(entry) }));
    const rows = await store.findRows(
      tx,
      entries.map(({ id }) => id),
    );
    const steps = await removeTx(run, entries, rows, mode.prunes === true);
    for (const { entry, id } of entries)
      if (!entry.isAbsent) steps.push(...(await about(entry, () => setTx(run, entry, id, rows.get(id)))));
    const isLater = await store.storeFileTx(tx, file, now);
    const count = (change: ApplyStep['change']): number => steps.filter((step) => step.change === change).length;
    const counts = { created: count('create'), changed: count('change'), deleted: count('delete') };
    const target = `${generation}/${digest}`;
    if (isLater || steps.some(({ change }) => change !== 'keep_deleted'))
      await recordEventTx(tx, { at: now, principal, action: 'installation.file_applied', target, details: counts });
    if (isLater) run.recorded.push({ kind: 'file_applied', id: target, at: now });
    return { generation, isApplied: true, steps, ...run };
  }

  /**
   * The id of an object that apply creates. It derives from the entry, so the deletion journal, which has ids, tells a restored
   * database which entries were deleted. A key has the id that every key with its hash would have.
   */
  #idOf({ kind, name }: FileEntry): string {
    if (kind === 'key') return String(this.#options.apiKeys.idOf(name));
    // Of what has no random id. A program that was removed is not added again after a restore.
    if (kind === 'scope') return `scope ${name}`;
    if (kind === 'program') return store.appliedProgramId(name);
    const text = `id of an applied entry\0${kind}\0${name}`;
    if (kind === 'issuer') return String(lookupOf(this.#options.hash.stored(text)));
    const prefix = kind === 'webhook' ? 'whe' : 'acc';
    return `${prefix}_${toBase62(this.#options.hash.mac(text).subarray(0, 16), 22)}`;
  }
}

const shown = ({ generation, isApplied, steps }: Made): Applied => ({ generation, isApplied, steps });

/** @throws ApplyError */
function assertNotOlder({ generation, digest }: LoadedFile, last: store.FileRow): void {
  if (generation < last.generation)
    throw refusal(
      `The file has the generation ${generation}, and one of the generation ${last.generation} was applied. Use the newer file.`,
    );
  if (generation === last.generation && digest !== last.digest)
    throw refusal(
      `Another file of the generation ${generation} was applied. Increase the generation with every change of the file.`,
    );
}

interface IdentifiedEntry {
  readonly entry: FileEntry;
  /** As of {@link store.EntryRow}. */
  readonly id: string;
}

/** Deletes what the file names as absent, and what it does not name, if `prunes` is set. */
async function removeTx(
  run: Run,
  entries: readonly IdentifiedEntry[],
  rows: ReadonlyMap<string, store.EntryRow>,
  prunes: boolean,
): Promise<ApplyStep[]> {
  const steps: ApplyStep[] = [];
  const named = new Set(entries.map(({ id }) => id));
  const unnamed = prunes ? (await store.listEntries(run.tx)).filter((row) => !named.has(row.id)) : [];
  for (const kind of removalOrder) {
    const { stateOf, remove } = kinds[kind];
    for (const { entry, id } of entries) {
      if (!entry.isAbsent || entry.kind !== kind) continue;
      await about(entry, async () => {
        const target = await targetOf(run, entry, id, rows.get(id));
        const { name } = entry;
        if ((await stateOf(run, target)) === 'exists') {
          await remove(run, target);
          steps.push({ change: 'delete', kind, name, id: target });
        }
        // Also of what has never existed: a file with an absent entry says that it was deleted.
        await store.storeRowTx(run.tx, { id, kind, target, isCreated: 0 }, run.now);
      });
    }
    for (const { kind: of, target, isCreated } of unnamed) {
      if (of !== kind || target === null || isCreated === 0 || (await stateOf(run, target)) !== 'exists') continue;
      await remove(run, target);
      steps.push({ change: 'delete', kind, name: target, id: target });
    }
  }
  return steps;
}

/** Creates or changes the object of an entry. @returns the step, if anything is to be done */
async function setTx(run: Run, entry: FileEntry, id: string, row: store.EntryRow | undefined): Promise<ApplyStep[]> {
  const { kind, name } = entry;
  const target = await targetOf(run, entry, id, row);
  const state = await entryStateOf(run, entry, target, row);
  const step = { kind, name, id: target };
  if (state === 'deleted') return [{ change: 'keep_deleted', ...step }];
  if (kind === 'service_account') run.owners.set(name, target);
  if (state === 'missing') {
    await kindOf(entry).create(run, entry, target);
    await store.storeRowTx(run.tx, { id, kind, target, isCreated: 1 }, run.now);
    return [{ change: 'create', ...step }];
  }
  const members = await kindOf(entry).change(run, entry, target);
  if (!row) await store.storeRowTx(run.tx, { id, kind, target, isCreated: 0 }, run.now);
  return members.length > 0 ? [{ change: 'change', ...step, members }] : [];
}

/**
 * The id of the object: the one of the row, of a person with the email address, of an issuer with the URL, or the one that it will
 * have.
 */
async function targetOf(run: Run, entry: FileEntry, id: string, row?: store.EntryRow): Promise<string> {
  const { kind, name } = entry;
  if (kind === 'scope' || kind === 'program') return name;
  // Also one that was added by hand after the one of the row was removed.
  const [issuer] = kind === 'issuer' ? await findIssuersFor(run.tx, '', name) : [];
  if (issuer) return String(issuer.id);
  const target = row?.target ?? id;
  if (kind !== 'account' || (row && !(await isGone(run, entry, target)))) return target;
  // Persons have unique email addresses: one that exists is meant.
  return (await store.findPerson(run.tx, name)) ?? target;
}

/**
 * Whether another person with the email address is meant after the one of the row was deleted. Only by an absent entry: everybody can
 * sign up with a free address, which must not bring rights back.
 */
const isGone = async (run: Run, entry: FileEntry, target: string): Promise<boolean> =>
  entry.isAbsent && (await kinds.account.stateOf(run, target)) !== 'exists';

async function entryStateOf(run: Run, entry: FileEntry, target: string, row?: store.EntryRow): Promise<State> {
  const state = await kinds[entry.kind].stateOf(run, target);
  if (state !== 'missing') return state;
  const { kind, given } = entry;
  // A service account that is missing from the owners was deleted, and its keys with it.
  const hasNoOwner = kind === 'key' && !run.owners.has((given.serviceAccount ?? '').normalize('NFC'));
  return row || hasNoOwner ? 'deleted' : 'missing';
}

/** The operations on the kind of the entry. TypeScript does not connect the type of the entry to that of the operations. */
const kindOf = (entry: FileEntry) =>
  kinds[entry.kind] as {
    create: (run: Run, entry: FileEntry, target: string) => Promise<void>;
    change: (run: Run, entry: FileEntry, target: string) => Promise<readonly string[]>;
  };

/** Adds the place of the entry to an error about it. @throws ApplyError; DomainError `unavailable` */
async function about<T>(entry: FileEntry, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    throw new ApplyError(problemsOf(error, entry.pointer));
  }
}
