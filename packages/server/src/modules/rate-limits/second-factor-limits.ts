/**
 * Limits how often the holder of one credential may guess another: the one-time code of a second factor after the
 * password, or the account's password beside an access token. Counted per second factor and per session, so that only
 * the holder of the first credential can use the allowance up. A guess is counted before it is checked: a parallel burst
 * finds the counter already raised.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { delayMs, tooManyAttempts } from './sign-in-limits.ts';
import * as store from './store.ts';

export interface SecondFactorLimitsOptions extends Core {
  readonly bucketHash: KeyedHash;
  /** Off only in race tests. */
  readonly enabled?: boolean;
}

/** A second factor (of the account, created at this time) or a session. A new one starts with a new count. */
export type GuessTarget = { readonly accountId: string; readonly createdAt: number } | { readonly sessionId: string };

export class SecondFactorLimits {
  readonly #options: SecondFactorLimitsOptions;

  constructor(options: SecondFactorLimitsOptions) {
    this.#options = options;
  }

  /** Counts the guess. @throws DomainError `too_many_attempts`, with nothing counted */
  async reserve(target: GuessTarget): Promise<void> {
    const { db, clock, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(target);
    const now = clock.now();
    const delayMsMax = limits.signInPairDelaySecondsMax * 1000;
    const assertAllowed = (counter: store.Bucket): void => {
      if (counter.count > limits.secondFactorFailuresMax) throw tooManyAttempts(delayMsMax);
      if (store.isBlocked(counter, now, delayMsMax)) throw tooManyAttempts(counter.blockedUntil - now);
    };
    const [row] = await store.readBuckets(db, [bucket]);
    assertAllowed(store.predictIncrement(row, now));
    await db.transaction(async (tx) => {
      const counted = await store.incrementTx(tx, bucket, now);
      assertAllowed(counted);
      const delayed = counted.count - limits.secondFactorFreeFailures;
      if (delayed >= 0) store.blockTx(tx, bucket, now + delayMs(delayed));
    });
  }

  /** The guess was right: clears the failures before it. */
  async succeed(target: GuessTarget): Promise<void> {
    const { db, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(target);
    await db.transaction(async (tx) => store.clearTx(tx, bucket));
  }

  /** Removes the guess from the count: it was not checked. */
  async release(target: GuessTarget): Promise<void> {
    const { db, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(target);
    await db.transaction(async (tx) => {
      store.decrementTx(tx, bucket);
      store.blockTx(tx, bucket, 0);
    });
  }

  #bucket(target: GuessTarget): Buffer {
    const parts =
      'sessionId' in target
        ? ['current password', target.sessionId]
        : ['second factor', target.accountId, target.createdAt];
    return this.#options.bucketHash.stored(JSON.stringify(parts));
  }
}
