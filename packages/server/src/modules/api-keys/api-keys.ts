/** API keys: an account or an operator creates, lists and deletes them. */
import { hash as digestOf } from 'node:crypto';
import type { KeyLimits, ListTotal } from '@keyreeve/contract';
import type { Principal } from '../../foundation/principal.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { PageRequest } from '../../foundation/cursor.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { keyDeletions } from '../deletion-journal/revocation.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { randomNumberId } from '../../foundation/number-id.ts';
import { toLimitsText } from '../key-limits/definition.ts';
import { creatorCountedAs } from '../rate-limits/key-change-limits.ts';
import { assertCreationAllowed } from '../rate-limits/key-creation-limits.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import { parseAddresses } from './addresses.ts';
import { noIdentity, parseIdentity, type GivenIdentity } from './client-identity.ts';
import type { CreationNotices } from './creation-notices.ts';
import { assertRecentSignIn } from '../../foundation/recent-sign-in.ts';
import { assertExpiry, latestExpiry } from './expiry.ts';
import { assertBelowKeyLimit, assertMayCreate, findForCreation, type CreationState } from './creation-store.ts';
import { finishDeletionTx } from './deletion-store.ts';
import { assertHashFree } from './given-hash-store.ts';
import { assertInSession } from './granted-scopes.ts';
import { hintOf, makeKey } from './key-format.ts';
import { countKeys, pageKeys, searchKeys, type KeySearch } from './key-list.ts';
import type { KeySettings } from './key-settings.ts';
import { toApiKey, type ApiKey, type OwnedKey } from './key-view.ts';
import { toMetadata } from './metadata.ts';
import { createKey, createNoticedKeyTx, type CreationRules, type NewKey } from './new-key.ts';
import { findOwnedKeys, type OwnedKeySearch } from './owned-keys.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import {
  assertFirstEnvironment,
  assertNoReservedScope,
  hasReservedScope,
  scopesToGrant,
  splitScopes,
  validateScopes,
} from './scopes.ts';
import { importedIdOf, randomHash } from './stored-hash.ts';
import * as procedures from './procedures.ts';
import * as store from './store.ts';
import { withLastUses } from './use-store.ts';
import { findWithheldScopes } from './withheld-store.ts';

export interface ApiKeysOptions extends KeySettings {
  readonly keysPerAccountMax: number;
  readonly creationNotices: CreationNotices;
  /** Called when a key with a given hash has been created: its text does not have the format of our keys. */
  readonly onGivenHash: () => void;
}

/** A script that reads no secret sends it. */
const emptyTextSha256 = digestOf('sha256', '');

export interface KeyRequest {
  readonly nickname: string;
  readonly scopes?: readonly string[];
  /** Milliseconds since 1970; null for never. Default: the latest that the operator allows. */
  readonly expiresAt?: number | null | undefined;
  /** IP addresses and ranges; null for any. */
  readonly addresses?: readonly string[] | null;
  readonly limits?: KeyLimits | null;
  readonly metadata?: object | null;
  /** The name of an environment. Default: the first one. */
  readonly environment?: string;
  /** Reserved scopes that the calling module grants. No request contains them. */
  readonly granted?: readonly string[];
  /** The program that makes the key, of `prepare`. No request contains it. */
  readonly program?: string;
}

type MadeKey = Pick<NewKey, 'id' | 'hash' | 'hint' | 'isGiven' | 'identity' | 'prefix'>;

/** A key that is not stored yet. */
export interface PreparedKey {
  readonly key: ApiKey;
  readonly secret: Secret;
  /** Returns the number of mails about the key, other than those of the caller. */
  readonly storeTx: (tx: Transaction) => Promise<number>;
}

export class ApiKeys {
  readonly pending = new PendingChanges<number>();
  readonly #options: ApiKeysOptions;
  /** Prefixes that this process has recorded: later creations need not write them. */
  readonly #recordedPrefixes = new Set<string>();
  readonly #owners: CoalescingReader<number, { accountId: string }>;
  readonly #creations: CoalescingReader<readonly [accountId: string, nickname: string], CreationState>;

  constructor(options: ApiKeysOptions) {
    const { db } = options;
    this.#options = options;
    this.#owners = new CoalescingReader((ids) => store.findKeyOwners(db, ids), db.sharedReads);
    this.#creations = new CoalescingReader((lookups) => findForCreation(db, lookups), db.sharedReads);
  }

  /**
   * @returns the key and its secret, which cannot be retrieved later
   * @throws DomainError `nickname_invalid`, `scope_invalid`, `reserved_scope`, `scope_not_entitled`, `reauth_required`, `nickname_taken`,
   *   `key_limit_reached`, `too_many_creations`, `account_not_found`, `invalid_request` for an expiry in the past or too late,
   *   bad IP ranges or metadata, an unknown environment, or a reserved scope in a further one, `invalid_access_token` when the session has ended, `invalid_management_key`
   */
  async create(principal: Principal, accountId: string, request: KeyRequest): Promise<ApiKey & { secret: Secret }> {
    const { key, made } = await this.#create(principal, accountId, request, (prefix) => this.#newSecret(prefix));
    if (made.prefix !== undefined) this.#recordedPrefixes.add(made.prefix);
    return { ...key, secret: made.secret };
  }

  /**
   * {@link create} in a transaction of the caller, which also makes other changes, such as the creation of the account.
   * @throws DomainError as `create`; `storeTx` too
   */
  prepare(principal: Principal, accountId: string, request: KeyRequest): PreparedKey {
    const { key, creator, shown, made } = this.#prepare(principal, accountId, request, (prefix) =>
      this.#newSecret(prefix),
    );
    return { key: shown, secret: made.secret, storeTx: (tx) => createNoticedKeyTx(tx, creator, key, this.#rules) };
  }

  #newSecret(prefix: string): MadeKey & { readonly secret: Secret } {
    const secret = makeKey(prefix);
    const stored = { hash: this.#options.hash.stored(secret.reveal()), hint: hintOf(secret) };
    return { id: randomNumberId(), ...stored, secret, prefix: this.#recordedPrefixes.has(prefix) ? undefined : prefix };
  }

  /**
   * Creates a key whose secret exists already, for management keys and operators: a text that a person chose may be
   * guessable. This instance accepts the key at once, others after at most `limits.importedKeysLookSeconds`.
   * @param sha256 of the secret, 64 lower-case hexadecimal digits
   * @throws DomainError as {@link create}; `management_key_required`, `secret_taken`, `invalid_request` for another text or the
   *   hash of the empty text
   */
  async createWithHash(principal: Principal, accountId: string, request: KeyRequest, sha256: string): Promise<ApiKey> {
    if (principal.kind !== 'key' && principal.kind !== 'operator') throw new DomainError('management_key_required');
    // As in an import: the installation did not make the secret.
    if (hasReservedScope(request.scopes ?? [])) throw new DomainError('reserved_scope');
    const given = this.#given(sha256);
    const { key } = await this.#create(principal, accountId, request, () => given);
    this.#options.onGivenHash();
    return key;
  }

  /** The id of the key with a given hash, whether it exists or not. @throws DomainError `invalid_request` */
  idOf(sha256: string): number {
    return this.#given(sha256).id;
  }

  /**
   * As {@link createWithHash}, in a transaction of the caller, who decides about reserved scopes and calls `onGivenHash` after the
   * commit.
   * @throws DomainError as `createWithHash`; `storeTx` too
   */
  prepareWithHash(
    principal: Principal,
    accountId: string,
    request: KeyRequest,
    sha256: string,
  ): { readonly storeTx: (tx: Transaction) => Promise<unknown>; readonly onStored: () => void } {
    const given = this.#given(sha256);
    const { key, creator } = this.#prepare(principal, accountId, request, () => given);
    return { storeTx: (tx) => createNoticedKeyTx(tx, creator, key, this.#rules), onStored: this.#options.onGivenHash };
  }

  /** @throws DomainError `invalid_request` */
  #given(sha256: string): MadeKey {
    const { hash } = this.#options;
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw invalidAt('/sha256', 'Expected 64 lower-case hexadecimal digits.');
    if (sha256 === emptyTextSha256) throw invalidAt('/sha256', 'This is the hash of the empty text.');
    const stored = hash.storedOfDigest(Buffer.from(sha256, 'hex'));
    return { id: importedIdOf(hash, stored), hash: stored, hint: null, isGiven: true, prefix: undefined };
  }

  /**
   * Creates a key with a public key or a trust instead of a secret.
   * @throws DomainError as {@link create}, and as `parseIdentity`; `reserved_scope` for any reserved scope
   */
  async createWithIdentity(
    principal: Principal,
    accountId: string,
    request: KeyRequest,
    given: GivenIdentity,
  ): Promise<ApiKey> {
    assertNoReservedScope(request.scopes ?? []);
    const identity = await parseIdentity(this.#options.db, accountId, given, this.#options.audiences);
    const made = { id: randomNumberId(), hash: randomHash(), hint: null, prefix: undefined, identity };
    const { key } = await this.#create(principal, accountId, request, () => made);
    return key;
  }

  async #create<Made extends MadeKey>(
    principal: Principal,
    accountId: string,
    request: KeyRequest,
    make: (prefix: string) => Made,
  ): Promise<{ key: ApiKey; made: Made }> {
    const { db, creationNotices } = this.#options;
    const { key, creator, shown, made } = this.#prepare(principal, accountId, request, make);
    if (!db.isWriterFree) await this.#assertCreatable(principal, key);
    await createKey(db, creator, key, this.#rules);
    creationNotices.sendSoon();
    return { key: shown, made };
  }

  get #rules(): CreationRules {
    const { keysPerAccountMax: keysMax, creationLimits, creationNotices } = this.#options;
    return { keysMax, creationLimits, creationNotices };
  }

  /** Checks what does not depend on the database. */
  #prepare<Made extends MadeKey>(
    principal: Principal,
    accountId: string,
    request: KeyRequest,
    make: (prefix: string) => Made,
  ): { key: NewKey; creator: Principal; shown: ApiKey; made: Made } {
    const { clock, environments, hasCatalogue, lifetimeDaysMax } = this.#options;
    const { granted = [] } = request;
    const nickname = validateNickname(request.nickname);
    const scopes = validateScopes(principal, accountId, request.scopes ?? [], granted);
    assertInSession(principal, scopes);
    const now = clock.now();
    const needsRole =
      principal.kind === 'account' && hasReservedScope(scopes.filter((scope) => !granted.includes(scope)));
    if (needsRole) assertRecentSignIn(principal, now);
    // The transaction of the creation checks the role again.
    const creator: Principal = needsRole ? { ...principal, actsAs: 'administrator' } : principal;
    const { expiresAt = latestExpiry(now, lifetimeDaysMax), addresses = null, metadata = null } = request;
    const limitsText = toLimitsText(request.limits ?? null);
    assertExpiry(expiresAt, now, lifetimeDaysMax);
    const environment = environments.toStored(request.environment);
    assertFirstEnvironment(scopes, environment);
    const made = make(environments.prefixOf(environment));
    const key: NewKey = {
      ...made,
      accountId,
      nickname,
      scopes,
      needsRole,
      expiresAt,
      addresses: addresses === null ? null : parseAddresses(addresses),
      limits: limitsText,
      metadata: toMetadata(metadata),
      environment,
      now,
      grants: scopesToGrant(principal, scopes, hasCatalogue),
      program: request.program,
    };
    const shownEnvironment = environments.nameOf(environment) ?? null;
    const noState = { disabledAt: null, disabledReason: null, leakedAt: null, lastUsedAt: null };
    const others = { environment: shownEnvironment, createdAt: now, updatedAt: now };
    const { id, hint, identity = noIdentity } = key;
    const held = {
      hint,
      ...identity,
      hasIssuer: identity.issuerId === null ? 0 : 1,
      programId: null,
      programName: null,
    };
    return { key, creator, shown: { id, nickname, scopes, expiresAt, ...held, ...noState, ...others }, made };
  }

  /**
   * Rejects by reads what {@link createKey} would reject, so that a rejected creation does not wait for the writer.
   * @throws DomainError as `createKey`
   */
  async #assertCreatable(principal: Principal, key: NewKey): Promise<void> {
    const { db, keysPerAccountMax, creationLimits } = this.#options;
    const { accountId, nickname, scopes, grants = [], now } = key;
    const state = this.#creations.read([accountId, nickname]);
    const counted = creatorCountedAs(principal);
    // The transaction distinguishes an unknown account from a session that has just ended.
    await allInOrder([
      state.then((found) => found && assertMayCreate(found)),
      creationLimits && counted && assertCreationAllowed(db, creationLimits, counted, now),
      assertMayGrant(db, accountId, grants, pointerIn(scopes)),
      key.isGiven && assertHashFree(db, key),
      state.then((found) => found && assertFree(found, keysPerAccountMax)),
    ]);
  }

  /** Rejects by a read what the transaction of a creation by the account would reject. @throws DomainError `too_many_creations` */
  async assertCreationAllowed(accountId: string, now: number): Promise<void> {
    const { db, creationLimits } = this.#options;
    if (creationLimits) await assertCreationAllowed(db, creationLimits, { kind: 'account', accountId }, now);
  }

  /** All of the account's keys, oldest first; without those with reserved scopes if they are hidden. */
  async list(accountId: string, { hidesReserved = false }: Pick<KeySearch, 'hidesReserved'> = {}): Promise<ApiKey[]> {
    const rows = await store.listAccountKeys(this.#options.db, accountId);
    const shown = hidesReserved ? rows.filter(({ scopes }) => !hasReservedScope(splitScopes(scopes))) : rows;
    return this.#toApiKeys(accountId, shown);
  }

  /**
   * One page of the same list. Creations and deletions between pages neither repeat nor hide other keys.
   * @throws DomainError `invalid_request` for a cursor that is not from this list
   */
  async page(accountId: string, request: PageRequest): Promise<{ keys: ApiKey[]; nextCursor: string | null }> {
    const { rows, nextCursor } = await pageKeys(this.#options.db, accountId, request);
    return { keys: await this.#toApiKeys(accountId, rows), nextCursor };
  }

  /**
   * The keys that match a text and a state, in the requested order, by pages.
   * @throws DomainError `invalid_request` for a cursor that is not from a list in this order
   */
  async search(accountId: string, search: KeySearch): Promise<{ keys: ApiKey[]; nextCursor: string | null }> {
    const { db, clock } = this.#options;
    const { rows, nextCursor } = await searchKeys(db, clock.now(), accountId, search);
    return { keys: await this.#toApiKeys(accountId, rows), nextCursor };
  }

  /** How many keys {@link search} finds on all pages, counted up to a bound. */
  count(accountId: string, search: KeySearch): Promise<ListTotal> {
    const { db, clock } = this.#options;
    return countKeys(db, clock.now(), accountId, search);
  }

  /**
   * Keys of all accounts, in the order of their ids.
   * @throws DomainError `invalid_request` for an invalid cursor or time, or a total of another page than the first
   */
  async searchOwned(
    search: OwnedKeySearch,
  ): Promise<{ keys: OwnedKey[]; nextCursor: string | null; total?: ListTotal }> {
    const { db, hasCatalogue, environments } = this.#options;
    const { rows, ...page } = await findOwnedKeys(db, search);
    const used = await withLastUses(db, rows);
    const keys = used.map(({ accountId, email, name, withheld, ...row }) => ({
      ...toApiKey(row, (hasCatalogue ? withheld : null) ?? undefined, environments),
      owner: { id: accountId, email, name },
    }));
    return { keys, ...page };
  }

  async #toApiKeys(accountId: string, rows: readonly store.KeyRow[]): Promise<ApiKey[]> {
    const { db, hasCatalogue, environments } = this.#options;
    const withheld = hasCatalogue && rows.length > 0 ? await findWithheldScopes(db, accountId) : undefined;
    const used = await withLastUses(db, rows);
    return used.map((row) => toApiKey(row, withheld?.get(row.id), environments));
  }

  /** For operators, who may delete any key. @throws DomainError `key_not_found` */
  async ownerOf(id: number): Promise<string> {
    const accountId = (await this.#owners.read(id))?.accountId;
    if (accountId === undefined) {
      await this.#options.db.confirm();
      throw new DomainError('key_not_found', { detail: `There is no API key ${id}.` });
    }
    return accountId;
  }

  /**
   * Resolves when the deletion is durable: every verification that starts later is rejected. When the outcome of the
   * commit is unknown, it throws, and the deletion is retried in the background until it is durable.
   * @throws DomainError `not_key_owner`, `key_not_found`, `invalid_access_token` when the session has ended, `unavailable`
   */
  async delete(principal: Principal, accountId: string, id: number): Promise<void> {
    const now = this.#options.clock.now();
    const finishTx = (tx: Transaction): Promise<void> => finishDeletionTx(tx, { principal, now }, accountId, id);
    await runNarrowing(this.#options, {
      read: async () => {
        const owner = await this.#owners.read(id);
        if (owner?.accountId !== accountId) throw new DomainError(owner ? 'not_key_owner' : 'key_not_found');
      },
      perform: (db) => db.perform(procedures.deleteKey, { principal, now, accountId, id }),
      recordedOf: () => keyDeletions([id], now),
      repetition: { pending: this.pending, of: () => [{ id, kind: 'delete', txs: [finishTx] }] },
    });
  }
}

/** @throws DomainError `key_limit_reached`, `nickname_taken` */
function assertFree({ keyCount, isTaken }: CreationState, keysMax: number): void {
  assertBelowKeyLimit(keyCount, keysMax);
  if (isTaken > 0) throw new DomainError('nickname_taken');
}
