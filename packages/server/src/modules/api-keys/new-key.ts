/** Stores a new key, in a transaction with its audit event and its mail. */
import type { Principal } from '../../foundation/principal.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import { rulesOf } from '../../foundation/database/key-rules.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { fold } from '../../foundation/fold.ts';
import { toLimits } from '../key-limits/definition.ts';
import { creatorCountedAs } from '../rate-limits/key-change-limits.ts';
import { creationCounterOf, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { identityDetails, noIdentity, type ClientIdentity } from './client-identity.ts';
import { createKeyTx, type Creation } from './creation-store.ts';
import type { CreationNotices } from './creation-notices.ts';
import { setProgramTx } from './program-key-store.ts';
import * as procedures from './procedures.ts';

export interface NewKey {
  readonly id: number;
  readonly hash: Buffer;
  /** The part of the secret that may be shown; null if the secret is not known. */
  readonly hint: string | null;
  /** Whether the hash was in the request. */
  readonly isGiven?: boolean;
  /** Instead of a secret. The hash is then random. */
  readonly identity?: ClientIdentity;
  readonly accountId: string;
  readonly nickname: string;
  readonly scopes: readonly string[];
  /** As in {@link KeyRow}; true when an administrator grants a reserved scope. */
  readonly needsRole?: boolean;
  readonly expiresAt: number | null;
  /** CIDR ranges, separated by spaces; null: any IP address. */
  readonly addresses?: string | null;
  /** JSON in canonical form. */
  readonly limits?: string | null;
  /** JSON. */
  readonly metadata?: string | null;
  /** The name of a further environment; null or absent for the first one. */
  readonly environment?: string | null;
  readonly now: number;
  /** Scopes that the scope catalogue must allow the account to grant. */
  readonly grants?: readonly string[];
  /** Absent when it is already recorded. */
  readonly prefix?: string | undefined;
  /** The id of the program that makes it; only of {@link createNoticedKeyTx}. */
  readonly program?: string | undefined;
}

export interface CreationRules {
  readonly keysMax: number;
  readonly creationLimits?: KeyCreationLimits | undefined;
  readonly creationNotices?: CreationNotices | undefined;
}
/** @throws DomainError as {@link createKeyTx}; nothing is stored then */
export async function createKey(db: Db, principal: Principal, key: NewKey, rules: CreationRules): Promise<void> {
  if (!rules.creationNotices?.isNeeded(principal, key.accountId))
    return db.perform(procedures.createKey, creationOf(principal, key, rules));
  await db.transaction(async (tx) => void (await createNoticedKeyTx(tx, principal, key, rules)));
}

/** As {@link createKey}, in a transaction of the caller. @returns the number of mails about the key */
export async function createNoticedKeyTx(
  tx: Transaction,
  principal: Principal,
  key: NewKey,
  rules: CreationRules,
): Promise<number> {
  const { creationNotices } = rules;
  await createKeyTx(tx, creationOf(principal, key, rules));
  if (key.program !== undefined) setProgramTx(tx, key.id, key.program);
  return creationNotices?.isNeeded(principal, key.accountId) ? creationNotices.queueTx(tx, principal, key) : 0;
}

function creationOf(creator: Principal, key: NewKey, { keysMax, creationLimits }: CreationRules): Creation {
  const { id, hash, hint, accountId, nickname, scopes, needsRole = false, expiresAt, now, isGiven = false } = key;
  const {
    addresses = null,
    limits = null,
    metadata = null,
    environment = null,
    identity = noIdentity,
    grants = [],
  } = key;
  const row = [id, accountId, nickname, scopes.join(' '), expiresAt, now, needsRole ? 1 : 0, hint, addresses, limits];
  const { publicKey, trust, issuerId } = identity;
  const rules = trust === null ? rulesOf.any : rulesOf.trust;
  const counted = creatorCountedAs(creator);
  return {
    creator,
    accountId,
    id,
    hash,
    isGiven,
    values: [lookupOf(hash), hash, ...row, metadata, environment, publicKey, fold(nickname), trust, issuerId, rules],
    scopes,
    grants,
    keysMax,
    counter: creationLimits && counted ? creationCounterOf(creationLimits, counted) : undefined,
    prefix: key.prefix === undefined ? undefined : { prefix: key.prefix, environment },
    details: {
      nickname,
      scopes,
      ...(limits === null ? {} : { limits: toLimits(limits) }),
      ...(environment === null ? {} : { environment }),
      ...(isGiven ? { given: true } : {}),
      ...(key.program === undefined ? {} : { program: key.program }),
      ...identityDetails(identity),
    },
    now,
  };
}
