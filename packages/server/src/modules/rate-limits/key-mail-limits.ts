/**
 * How many mails about keys an account gets in an hour. Other persons cause them, so without a bound a manager of a service
 * account could flood the mailboxes of the other managers.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { incrementTx } from './store.ts';

const windowMs = 3_600_000;

/** What a mail is about. Each has its own bound, so that mails about one do not suppress those about another. */
export type KeyMailKind = 'created keys' | 'keys of programs' | 'leaked keys' | 'ended secrets';

/** Counts a mail to an account. @returns whether it may be sent */
export async function countKeyMailTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  { accountId, kind }: { readonly accountId: string; readonly kind: KeyMailKind },
  now: number,
): Promise<boolean> {
  const bucket = bucketHash.stored(JSON.stringify(['key mails', accountId, kind]));
  return (await incrementTx(tx, bucket, now, { windowMs })).count <= limits.keyMailsPerHourMax;
}
