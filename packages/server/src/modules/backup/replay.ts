/** Repeats the deletions of the journal on a restored database. The whole journal is read and verified before. */
import type { Transaction } from '../../foundation/database/db.ts';
import type { DatedId } from '../../foundation/database/json-lists.ts';
import {
  hasAllChanges,
  journalFiles,
  JournalError,
  readJournal,
  readPosition,
  type JournalKeys,
  type Position,
} from '../deletion-journal/files.ts';
import {
  changeKinds,
  isChange,
  isFinal,
  type ChangeKind,
  type FinalKind,
  type Revocation,
} from '../deletion-journal/revocation.ts';
import { repeatChangesTx, repeatDeletionsTx } from './replay-changes.ts';

const idsPerStatement = 1_000;

/** Several folders, read as one journal. */
export interface JournalSources {
  readonly folders: readonly string[];
  readonly keys: JournalKeys;
  /** Receives the error of each untrustworthy file, which is left out. Without it the error is thrown. */
  readonly onDamage?: ((error: JournalError) => void) | undefined;
}

export interface Survey {
  /** Number of folders with a journal. */
  readonly folders: number;
  /** Folders without a journal. */
  readonly empty: readonly string[];
  /**
   * The journal has the deletions of all instances up to this time, in milliseconds; 0 when unknown. Only positions
   * show this, because a line of one instance proves nothing about the others.
   */
  readonly completeUntil: number;
  /** What each position shows: the entries of these periods are complete. In milliseconds. */
  readonly periods: readonly { readonly since: number; readonly until: number }[];
  /** The highest event id in the journal. */
  readonly newestEvent: number;
  /** Ids of the accounts whose last such entry is disabling, not enabling. */
  readonly disabled: readonly string[];
  /** Whether all positions cover the changes of all kinds. */
  readonly hasChanges: boolean;
}

export interface Replayed {
  readonly apiKeys: number;
  readonly accounts: number;
  readonly signingKeys: number;
  readonly accountsDisabled: number;
  readonly rolesRemoved: number;
  readonly passwordsVoided: number;
  readonly emailsToConfirm: number;
  readonly secondFactorsRemoved: number;
  /** Number of accounts whose replaced recovery codes were removed. */
  readonly recoveryCodesReplaced: number;
  readonly recoveryCodesUsed: number;
  /** Number of accounts that require a second factor again. */
  readonly secondFactorsRequired: number;
  readonly webhooksDisabled: number;
  readonly webhooksDeleted: number;
  /**
   * Keys that were disabled, restricted or rotated, or whose previous secret was ended. A key that an administrator has also
   * disabled counts twice: each of both entries disables it, with an audit event.
   */
  readonly apiKeysDisabled: number;
  /** Number of accounts that lost all entitlements. */
  readonly entitlementsRemoved: number;
  /** Scopes that need an entitlement again. */
  readonly scopesEntitled: number;
  readonly scopesDeleted: number;
  /** Managers of service accounts. */
  readonly managersRemoved: number;
  /** Secrets of API keys that had leaked. */
  readonly secretsLeaked: number;
  /** Number of accounts whose authenticator app was removed; they had passkeys as well. */
  readonly authenticatorsRemoved: number;
  readonly passkeysRemoved: number;
  /** Number of identities of single sign-on that were unlinked from their accounts. */
  readonly identitiesUnlinked: number;
  /** Files of `keyreeve apply` whose generations the database had lost. */
  readonly filesApplied: number;
  /** Issuers that accept no token until their algorithms are set again. */
  readonly issuersNarrowed: number;
  readonly issuersRemoved: number;
}

export interface ReplayResult {
  readonly replayed: Replayed;
  /** Ids of the accounts whose email address must be confirmed. */
  readonly unconfirmed: readonly string[];
}

const countOf = {
  role_removed: 'rolesRemoved',
  password_changed: 'passwordsVoided',
  email_changed: 'emailsToConfirm',
  second_factor_removed: 'secondFactorsRemoved',
  recovery_codes_replaced: 'recoveryCodesReplaced',
  recovery_code_used: 'recoveryCodesUsed',
  second_factor_required: 'secondFactorsRequired',
  webhook_disabled: 'webhooksDisabled',
  webhook_deleted: 'webhooksDeleted',
  api_key_narrowed: 'apiKeysDisabled',
  api_key_disabled_by_administrator: 'apiKeysDisabled',
  entitlements_removed: 'entitlementsRemoved',
  scope_entitled: 'scopesEntitled',
  scope_deleted: 'scopesDeleted',
  manager_removed: 'managersRemoved',
  secret_leaked: 'secretsLeaked',
  authenticator_removed: 'authenticatorsRemoved',
  passkey_removed: 'passkeysRemoved',
  identity_unlinked: 'identitiesUnlinked',
  file_applied: 'filesApplied',
  issuer_narrowed: 'issuersNarrowed',
  issuer_removed: 'issuersRemoved',
} as const satisfies Readonly<Record<ChangeKind, keyof Replayed>>;

const countOfDeletions = { api_key: 'apiKeys', account: 'accounts', signing_key: 'signingKeys' } as const;

/** @throws JournalError */
export async function surveyJournal(sources: JournalSources): Promise<Survey> {
  const empty: string[] = [];
  let completeUntil = 0;
  let newestEvent = 0;
  let hasChanges = true;
  const periods: { since: number; until: number }[] = [];
  const abilities = new Map<string, Revocation>();
  for (const folder of sources.folders) {
    const position = await positionOf(sources, folder);
    if (!position && (await journalFiles(folder)).length === 0) empty.push(folder);
    completeUntil = Math.max(completeUntil, position?.at ?? 0);
    if (position) periods.push({ since: position.since ?? 0, until: position.at });
    if (position && !hasAllChanges(position)) hasChanges = false;
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
  return { folders, empty, completeUntil, periods, newestEvent, disabled, hasChanges };
}

/** A second replay changes nothing. */
export async function replayJournal(
  tx: Transaction,
  sources: JournalSources,
  { disabled }: Survey,
  now: number,
): Promise<ReplayResult> {
  const pending: Record<FinalKind, string[]> = { api_key: [], account: [], signing_key: [] };
  const changes = new Map<ChangeKind, DatedId[]>(changeKinds.map((kind) => [kind, []]));
  const unconfirmed: string[] = [];
  const done: { -readonly [count in keyof Replayed]: number } = { ...nothingReplayed };
  const flush = async (idsMin: number): Promise<void> => {
    // Keys before accounts: the deletion of an account also deletes its keys, without an audit event for all.
    for (const kind of ['api_key', 'account', 'signing_key'] as const)
      if (pending[kind].length >= idsMin)
        done[countOfDeletions[kind]] += await repeatDeletionsTx(tx, kind, pending[kind].splice(0), now);
    for (const [kind, listed] of changes) {
      if (listed.length < idsMin) continue;
      const ids = await repeatChangesTx(tx, kind, listed.splice(0), now);
      done[countOf[kind]] += ids.length;
      if (kind === 'email_changed') unconfirmed.push(...ids);
    }
  };
  for await (const { kind, id, at } of readAll(sources)) {
    if (isFinal(kind)) pending[kind].push(id);
    if (isChange(kind)) changes.get(kind)?.push({ id, at });
    await flush(idsPerStatement);
  }
  await flush(1);
  for (let from = 0; from < disabled.length; from += idsPerStatement)
    done.accountsDisabled += await repeatDeletionsTx(
      tx,
      'account_disabled',
      disabled.slice(from, from + idsPerStatement),
      now,
    );
  return { replayed: done, unconfirmed };
}

export const nothingReplayed: Replayed = {
  apiKeys: 0,
  accounts: 0,
  signingKeys: 0,
  accountsDisabled: 0,
  rolesRemoved: 0,
  passwordsVoided: 0,
  emailsToConfirm: 0,
  secondFactorsRemoved: 0,
  recoveryCodesReplaced: 0,
  recoveryCodesUsed: 0,
  secondFactorsRequired: 0,
  webhooksDisabled: 0,
  webhooksDeleted: 0,
  apiKeysDisabled: 0,
  entitlementsRemoved: 0,
  scopesEntitled: 0,
  scopesDeleted: 0,
  managersRemoved: 0,
  secretsLeaked: 0,
  authenticatorsRemoved: 0,
  passkeysRemoved: 0,
  identitiesUnlinked: 0,
  filesApplied: 0,
  issuersNarrowed: 0,
  issuersRemoved: 0,
};

async function* readAll({ folders, keys, onDamage }: JournalSources): AsyncGenerator<Revocation> {
  for (const folder of folders) yield* readJournal(folder, keys, {}, onDamage);
}

/** @returns undefined for an untrustworthy position that `onDamage` has received */
async function positionOf({ keys, onDamage }: JournalSources, folder: string): Promise<Position | undefined> {
  try {
    return await readPosition(folder, keys);
  } catch (error) {
    if (!onDamage || !(error instanceof JournalError)) throw error;
    onDamage(error);
    return undefined;
  }
}
