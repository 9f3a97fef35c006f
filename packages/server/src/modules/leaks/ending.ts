/** Ends reported secrets in one transaction: the change, its audit events and its mail. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import {
  endLeakedSecretTx,
  findHolders,
  findLeakedSecretsTx,
  lockHoldersTx,
  type SecretHolder,
} from '../api-keys/leak-store.ts';
import { recordEventsTx, type AuditDetails } from '../audit/audit.ts';
import { endShortLivedTx, findShortLivedOwners, type OwnerOfShortLived } from '../short-lived-secrets/store.ts';
import type { LeakedSecret, LeakNotices, LeakSource, Reporter } from './leak.ts';

/** A reported text that has the format of a secret. */
export interface Reported {
  readonly hash: Buffer;
  readonly isShortLived: boolean;
  readonly source: LeakSource | undefined;
}

/** A reported secret that a key had when it was read. */
export interface HeldSecret extends Reported, SecretHolder {
  /** Of a short-lived secret. */
  readonly shortLived: OwnerOfShortLived | undefined;
}

export interface EndedSecret extends LeakedSecret {
  /** The stored hash, in lower-case hexadecimal. */
  readonly hash: string;
  /** The time of the change, in milliseconds. */
  readonly at: number;
}

/** Those of the secrets that a key has, from snapshots taken after the call. Does not wait for writes. */
export async function findReported(db: Db, reported: readonly Reported[]): Promise<HeldSecret[]> {
  const [shortLived, others] = [true, false].map((is) => reported.filter(({ isShortLived }) => isShortLived === is));
  const [ofShortLived, ofOthers] = await allInOrder([
    findShortLivedOwners(
      db,
      shortLived!.map(({ hash }) => hash),
    ),
    findHolders(
      db,
      others!.map(({ hash }) => hash),
    ),
  ]);
  return [
    ...others!.flatMap((one, index) => {
      const holder = ofOthers[index];
      return holder ? { ...one, ...holder, shortLived: undefined } : [];
    }),
    ...shortLived!.flatMap((one, index) => {
      const found = ofShortLived[index];
      return found ? { ...one, keyId: found.keyId, accountId: found.accountId, shortLived: found } : [];
    }),
  ];
}

/**
 * Ends those of the secrets that a key still has. The keys are locked before they are read again: a rotation may have made
 * a current secret the previous one, and a deletion or another report may have ended it.
 */
export async function endReportedTx(
  tx: Transaction,
  { principal, now }: { readonly principal: Reporter; readonly now: number },
  held: readonly HeldSecret[],
  notices: LeakNotices | undefined,
): Promise<EndedSecret[]> {
  const [, found] = await allInOrder([
    lockHoldersTx(tx, held),
    findLeakedSecretsTx(
      tx,
      held.filter(({ isShortLived }) => !isShortLived).map(({ hash }) => hash),
    ),
  ]);
  const sources = new Map(held.map(({ hash, source }) => [hash.toString('hex'), source]));
  // Each change of a key has a later time than the one before.
  const times = new Map<number, number>();
  for (const { keyId, updatedAt } of found) times.set(keyId, Math.max(now, updatedAt + 1));
  const ended: EndedSecret[] = found.map((secret) => {
    const at = times.get(secret.keyId) ?? now;
    endLeakedSecretTx(tx, secret, at);
    const { keyId, accountId, nickname, hint, hash } = secret;
    return { secret: secret.secret, keyId, accountId, nickname, hint, hash, at, source: sources.get(hash) };
  });
  for (const { hash, shortLived, source } of held) {
    if (!shortLived || !(await endShortLivedTx(tx, hash))) continue;
    ended.push({ secret: 'short_lived', ...shortLived, hint: null, hash: hash.toString('hex'), at: now, source });
  }
  if (ended.length === 0) return ended;
  await notices?.queueTx(tx, principal, ended, now);
  await recordEventsTx(
    tx,
    ended.map((secret) => ({
      at: secret.at,
      principal,
      action: 'api_key.leaked',
      accountId: secret.accountId,
      target: String(secret.keyId),
      details: detailsOf(principal, secret),
    })),
  );
  return ended;
}

const detailsOf = (principal: Reporter, { nickname, secret, hash, source }: EndedSecret): AuditDetails => ({
  nickname,
  secret,
  by: principal.kind,
  ...(principal.kind === 'possessor' && principal.from !== null ? { from: principal.from } : {}),
  ...(source ? { host: source.host } : {}),
  ...(source?.repository === undefined ? {} : { repository: source.repository }),
  hash,
});
