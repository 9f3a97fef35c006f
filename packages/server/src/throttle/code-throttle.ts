/**
 * How often a code of a second factor may be guessed: per factor, from wherever, because whoever gets here has the
 * password. A new factor begins anew. Each attempt is counted before the code is looked at, so a parallel burst finds the counter already raised.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../clock.ts';
import type { KeyedHash } from '../crypto/keyed-hash.ts';
import type { Db } from '../db/db.ts';
import { refusal, waitMs } from './login-throttle.ts';
import * as store from './store.ts';

export interface CodeThrottleOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  /** Off for load tests. */
  readonly enabled: boolean;
}

export interface GuessedFactor {
  readonly accountId: string;
  readonly createdAt: number;
}

export class CodeThrottle {
  readonly #options: CodeThrottleOptions;

  constructor(options: CodeThrottleOptions) {
    this.#options = options;
  }

  /** Counts the attempt. @throws DomainError `too_many_attempts`, with nothing counted */
  async reserve(factor: GuessedFactor): Promise<void> {
    const { db, clock, enabled } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(factor);
    const now = clock.now();
    await db.transaction(async (tx) => {
      const { count, blockedUntil } = await store.raise(tx, bucket, now);
      if (count > limits.secondFactorFailuresMax) throw refusal(limits.loginPairDelaySecondsMax * 1000);
      if (blockedUntil > now) throw refusal(blockedUntil - now);
      const paid = count - limits.secondFactorFreeFailures;
      if (paid >= 0) await store.block(tx, bucket, now + waitMs(paid));
    });
  }

  /** A right code: the failures before it are over. */
  async succeed(factor: GuessedFactor): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const bucket = this.#bucket(factor);
    await db.transaction((tx) => store.clear(tx, bucket));
  }

  #bucket({ accountId, createdAt }: GuessedFactor): Buffer {
    return this.#options.bucketHash.stored(JSON.stringify(['second factor', accountId, createdAt]));
  }
}
