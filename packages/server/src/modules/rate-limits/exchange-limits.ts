/**
 * The limits of exchanges of an API key in a minute. Counted in the transaction that issues the short-lived secret: only a client
 * that has proved who it is can use the allowance up.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { countTx } from './window-counter.ts';

type Count = (tx: Transaction, bucketHash: KeyedHash, keyId: number, now: number) => Promise<void>;

const counting =
  (max: number): Count =>
  (tx, bucketHash, keyId, now) => {
    const bucket = bucketHash.stored(JSON.stringify(['exchanges', keyId]));
    return countTx(tx, { bucket, max, windowMs: 60_000, policy: 'exchanges' }, now);
  };

/** Counts an assertion. @throws DomainError `too_many_exchanges`, which rolls the count back with the rest */
export const countExchangeTx = counting(limits.exchangesPerMinuteMax);

/** The same for a key without a public key. */
export const countClientExchangeTx = counting(limits.trustExchangesPerMinuteMax);
