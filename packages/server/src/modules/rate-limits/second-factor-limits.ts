/**
 * How often the holder of one credential may guess another: the code of a second factor after the password, the
 * account's password beside an access token. Counted per second factor and per session, so that only the holder of the
 * first credential can use the allowance up. Each guess is counted before it is checked: a burst finds the counter raised.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../foundation/database/db.ts';
import { refusal, waitMs } from './sign-in-limits.ts';
import * as store from './store.ts';

export interface SecondFactorLimitsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  /** Off in race tests alone. */
  readonly enabled?: boolean;
}

/** A new factor and a new session begin with a count of their own. */
export type Guessed = { readonly accountId: string; readonly createdAt: number } | { readonly sessionId: string };

export class SecondFactorLimits {
  readonly #options: SecondFactorLimitsOptions;

  constructor(options: SecondFactorLimitsOptions) {
    this.#options = options;
  }

  /** Counts the guess. @throws DomainError `too_many_attempts`, with nothing counted */
  async reserve(guessed: Guessed): Promise<void> {
    const { db, clock, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(guessed);
    const now = clock.now();
    const assertAllowed = ({ count, blockedUntil }: store.Bucket): void => {
      if (count > limits.secondFactorFailuresMax) throw refusal(limits.loginPairDelaySecondsMax * 1000);
      if (blockedUntil > now) throw refusal(blockedUntil - now);
    };
    const [row] = await store.readBuckets(db, [bucket]);
    assertAllowed(store.foresee(row, now));
    await db.transaction(async (tx) => {
      const raised = await store.raise(tx, bucket, now);
      assertAllowed(raised);
      const paid = raised.count - limits.secondFactorFreeFailures;
      if (paid >= 0) await store.block(tx, bucket, now + waitMs(paid));
    });
  }

  /** The guess was right: the failures before it are cleared. */
  async succeed(guessed: Guessed): Promise<void> {
    const { db, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(guessed);
    await db.transaction((tx) => store.clear(tx, bucket));
  }

  /** The guess was not checked: it is not counted. */
  async release(guessed: Guessed): Promise<void> {
    const { db, enabled = true } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(guessed);
    await db.transaction(async (tx) => {
      await store.lower(tx, bucket);
      await store.block(tx, bucket, 0);
    });
  }

  #bucket(guessed: Guessed): Buffer {
    const parts =
      'sessionId' in guessed
        ? ['current password', guessed.sessionId]
        : ['second factor', guessed.accountId, guessed.createdAt];
    return this.#options.bucketHash.stored(JSON.stringify(parts));
  }
}
