/** Doing to a restored database what was done since: first all of the journal is read and checked, then it is applied. */
import type { Transaction } from '../db/db.ts';
import { journalFiles, JournalError, readJournal, readPosition, type JournalKeys, type Position } from './files.ts';
import { isFinal, type FinalKind, type Revocation } from './revocation.ts';
import { deleteListedAccounts, deleteListedKeys, disableListedAccounts, revokeListedSigningKeys } from './store.ts';

const idsPerStatement = 1_000;

/** Several folders, and what else is known, as one journal. */
export interface JournalSources {
  readonly folders: readonly string[];
  readonly keys: JournalKeys;
  /** Told of what can't be believed, which is left out then. Without it that is refused. */
  readonly onDamage?: ((error: JournalError) => void) | undefined;
}

export interface Survey {
  /** How many hold a journal. */
  readonly folders: number;
  /** Folders in which there is no journal. */
  readonly empty: readonly string[];
  /**
   * The journal is known to hold all that happened until then, on every instance; milliseconds, 0 for nothing. Only
   * positions tell: a line says nothing of what other instances wrote elsewhere.
   */
  readonly completeUntil: number;
  /** No later event of the audit trail is known by its id. */
  readonly newestEvent: number;
  /** Accounts that were disabled last, not enabled. */
  readonly disabled: readonly string[];
}

export interface Replayed {
  readonly apiKeys: number;
  readonly accounts: number;
  readonly signingKeys: number;
  readonly accountsDisabled: number;
}

/** @throws JournalError */
export async function surveyJournal(sources: JournalSources): Promise<Survey> {
  const empty: string[] = [];
  let completeUntil = 0;
  let newestEvent = 0;
  const abilities = new Map<string, Revocation>();
  for (const folder of sources.folders) {
    const position = await positionOf(sources, folder);
    if (!position && (await journalFiles(folder)).length === 0) empty.push(folder);
    completeUntil = Math.max(completeUntil, position?.at ?? 0);
    newestEvent = Math.max(newestEvent, position?.event ?? 0);
  }
  for await (const revocation of readAll(sources)) {
    const { kind, id, event = 0 } = revocation;
    newestEvent = Math.max(newestEvent, event);
    if (kind !== 'account_disabled' && kind !== 'account_enabled') continue;
    if (event >= (abilities.get(id)?.event ?? 0)) abilities.set(id, revocation);
  }
  const disabled = [...abilities.values()].filter(({ kind }) => kind === 'account_disabled').map(({ id }) => id);
  const folders = sources.folders.length - empty.length;
  return { folders, empty, completeUntil, newestEvent, disabled };
}

/** Nothing is revived by it, and done twice it changes nothing more. */
export async function replayJournal(
  tx: Transaction,
  sources: JournalSources,
  { disabled }: Survey,
  now: number,
): Promise<Replayed> {
  const waiting: Record<FinalKind, string[]> = { api_key: [], account: [], signing_key: [] };
  const done = { apiKeys: 0, accounts: 0, signingKeys: 0, accountsDisabled: 0 };
  const flush = async (idsMin: number): Promise<void> => {
    // Keys before accounts, whose deletion would take them along unrecorded.
    if (waiting.api_key.length >= idsMin) done.apiKeys += await deleteListedKeys(tx, waiting.api_key.splice(0), now);
    if (waiting.account.length >= idsMin)
      done.accounts += await deleteListedAccounts(tx, waiting.account.splice(0), now);
    if (waiting.signing_key.length >= idsMin)
      done.signingKeys += await revokeListedSigningKeys(tx, waiting.signing_key.splice(0), now);
  };
  for await (const { kind, id } of readAll(sources)) {
    if (isFinal(kind)) waiting[kind].push(id);
    await flush(idsPerStatement);
  }
  await flush(1);
  for (let from = 0; from < disabled.length; from += idsPerStatement)
    done.accountsDisabled += await disableListedAccounts(tx, disabled.slice(from, from + idsPerStatement), now);
  return done;
}

async function* readAll({ folders, keys, onDamage }: JournalSources): AsyncGenerator<Revocation> {
  for (const folder of folders) yield* readJournal(folder, keys, {}, onDamage);
}

/** @returns undefined for a position that is not trustworthy, where that is accepted */
async function positionOf({ keys, onDamage }: JournalSources, folder: string): Promise<Position | undefined> {
  try {
    return await readPosition(folder, keys);
  } catch (error) {
    if (!onDamage || !(error instanceof JournalError)) throw error;
    onDamage(error);
    return undefined;
  }
}
