/**
 * Limits of requests for approval: how many a client IP range may begin, and how many wrong codes an account and a range may enter. No
 * limit counts all clients together: one of them could lock everybody out.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { hourMs } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { countKeyMailTx } from './key-mail-limits.ts';
import { clearTx, decrementTx, incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

export interface ApprovalLimitsOptions extends Core {
  readonly bucketHash: KeyedHash;
  /** Off only in measurements and race tests, which exceed the limits. */
  readonly enabled: boolean;
}

export interface Guesser {
  readonly accountId: string;
  /** The client IP range; absent if a guess needs a further secret, so that only the account is bounded. */
  readonly range?: string;
}

const decay = { windowMs: hourMs };
const { deviceRequestSeconds, deviceRequestsPerRangeMax } = limits;
/** Also ended ones count, so that a client which ends its requests does not cause unlimited writes. */
const beginsMax = 5 * deviceRequestsPerRangeMax;
const beginDecay = { windowMs: deviceRequestSeconds * 1_000 };

export class ApprovalLimits {
  readonly #options: ApprovalLimitsOptions;

  constructor(options: ApprovalLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts a request that begins. On PostgreSQL, further ones of the range wait until the transaction ends, so that the caller can
   * count outstanding ones.
   * @throws DomainError `too_many_device_requests`
   */
  async countBeginTx(tx: Transaction, program: string, range: string, now: number): Promise<void> {
    const bucket = this.#bucket('device requests', program, range);
    const row = await incrementTx(tx, bucket, now, beginDecay);
    if (this.#options.enabled && row.count > beginsMax)
      throw tooMany('too_many_device_requests', row, { now, windowMs: beginDecay.windowMs, max: beginsMax });
  }

  /** Rejects by a read what {@link countBeginTx} would reject. */
  async assertMayBegin(program: string, range: string, now: number): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const [row] = await readBuckets(db, [this.#bucket('device requests', program, range)]);
    const predicted = predictIncrement(row, now, beginDecay);
    if (predicted.count > beginsMax)
      throw tooMany('too_many_device_requests', predicted, { now, windowMs: beginDecay.windowMs, max: beginsMax });
  }

  /**
   * Looks up a code in a transaction. It counts before the lookup, so that concurrent guesses cannot exceed the limit, and takes the
   * count back for a code that exists. The first guess of an account in a window needs no place in its range: others in the range must not
   * lock it out.
   * @param findTx undefined for a wrong code, which is counted when the transaction commits
   * @throws DomainError `too_many_codes`
   */
  async guess<T>(guesser: Guesser, findTx: (tx: Transaction) => Promise<T | undefined>): Promise<T | undefined> {
    const { db, clock } = this.#options;
    const now = clock.now();
    const buckets = this.#bucketsOf(guesser);
    // First by a read: a flood of guesses that are rejected anyway must not occupy the writer.
    const rows = await readBuckets(db, buckets);
    this.#assertMayGuess(buckets.map((_, index) => predictIncrement(rows[index], now, decay)));
    return db.transaction(async (tx) => {
      const counted: Bucket[] = [];
      for (const bucket of buckets) counted.push(await incrementTx(tx, bucket, now, decay));
      this.#assertMayGuess(counted);
      const found = await findTx(tx);
      if (found !== undefined) for (const bucket of buckets) decrementTx(tx, bucket);
      return found;
    });
  }

  /**
   * Marks that an account has a key of a program in a range.
   * @returns whether the key sends a mail: it is the first one, or the first since housekeeping deleted the mark, which no key has
   *   touched for long, and the account has not got too many mails in the hour. Without a mail, there is no mark
   */
  async sendsMailTx(tx: Transaction, accountId: string, mark: Buffer, now: number): Promise<boolean> {
    if ((await incrementTx(tx, mark, now)).count > 1) return false;
    const mail = { accountId, kind: 'keys of programs' } as const;
    const sends = await countKeyMailTx(tx, this.#options.bucketHash, mail, now);
    if (!sends) this.forgetRangeTx(tx, mark);
    return sends;
  }

  /** @returns the name of the mark of {@link sendsMailTx}, which does not disclose the range */
  rangeMark(accountId: string, range: string): Buffer {
    return this.#bucket('approved range', accountId, range);
  }

  /** The next key in the range is the first one again. */
  forgetRangeTx(tx: Transaction, mark: Buffer): void {
    clearTx(tx, mark);
  }

  /** Of the account, and of the range. */
  #bucketsOf({ accountId, range }: Guesser): Buffer[] {
    const ofAccount = this.#bucket('wrong codes', accountId);
    return range === undefined ? [ofAccount] : [ofAccount, this.#bucket('wrong codes of range', range)];
  }

  /** @param counted with this guess, of the account and of the range */
  #assertMayGuess([ofAccount, ofRange]: readonly Bucket[]): void {
    const { clock, enabled } = this.#options;
    const reject = (row: Bucket, max: number): never => {
      throw tooMany('too_many_codes', row, { now: clock.now(), windowMs: decay.windowMs, max });
    };
    if (!enabled || !ofAccount) return;
    const { wrongCodesPerAccountMax, wrongCodesPerRangeMax } = limits;
    if (ofAccount.count > wrongCodesPerAccountMax) reject(ofAccount, wrongCodesPerAccountMax);
    if (ofRange && ofRange.count > wrongCodesPerRangeMax && ofAccount.count > 1) reject(ofRange, wrongCodesPerRangeMax);
  }

  #bucket(...parts: readonly string[]): Buffer {
    return this.#options.bucketHash.stored(JSON.stringify(parts));
  }
}

function tooMany(
  code: 'too_many_codes' | 'too_many_device_requests',
  { windowStartedAt }: Bucket,
  { now, windowMs, max }: { readonly now: number; readonly windowMs: number; readonly max: number },
): DomainError {
  return new DomainError(code, {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1_000)),
    rate: {
      policy: code === 'too_many_codes' ? 'wrong codes' : 'device requests',
      quota: max,
      windowSeconds: windowMs / 1_000,
    },
  });
}
