/**
 * Rate limits of sign-ins. Each attempt is counted as a failure before the password is checked, and the count is removed
 * when the password was right: a parallel burst finds the counters already raised. Emails are counted whether or not an
 * account has them. A rejected attempt never reaches the hash, not even with the right password. Numbers: `limits`.
 *
 * An attempt from a trusted address range (the email signed in from there within 30 days) and any other attempt count
 * in separate counters:
 *
 * - trusted: email and range together, and the range (and its /48 of IPv6) over all emails. No client elsewhere can
 *   raise these counters.
 * - any other: email and range together, then delays that double; the email, and the email without its `+tag`; the
 *   range, its /48, and all ranges together. Any client can raise these counters, so they decay by time alone: a
 *   successful sign-in or a new password changes nothing in them, and they behave alike for an email without an account.
 *
 * Setting a password clears the email's trusted ranges, except the one that it was set from: a thief may have signed in
 * with the old password. When an email gets another owner, all its trusted ranges are cleared.
 */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { coarseRange, ipRange, isWithin } from '../../foundation/ip-address.ts';
import * as store from './store.ts';

/** A limit that the operator sets for one network, such as that of a backend that signs its users in. */
export interface IpRangeLimit {
  readonly cidr: string;
  readonly failuresMax: number;
}

export interface SignInLimitsOptions extends Core {
  readonly bucketHash: KeyedHash;
  readonly ipRangeLimits: readonly IpRangeLimit[];
  /** Off for load tests. */
  readonly enabled: boolean;
}

export interface SignInAttempt {
  /** The canonical email; for text that is no email address, the text as it was sent. */
  readonly canonicalEmail: string;
  readonly clientIp: string;
}

/** An attempt that the committed counters allow. */
export interface AssessedAttempt extends SignInAttempt {
  /** Whether the email signed in from this address range within 30 days. */
  readonly isTrusted: boolean;
  /** Before the password is checked. */
  readonly startedAt: number;
  /** Whether the email signed in from the coarse range of the client IP within 30 days. */
  readonly isOriginTrusted: boolean;
}

/** An attempt that was counted. */
export interface Reservation extends AssessedAttempt {
  /** Failed sign-ins of the email since its last successful one. */
  readonly failures: number;
}

/** An attempt is rejected when it raises the count above `max`. */
interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  readonly decay: Exclude<store.Decay, undefined>;
  /** Its name in the response; {@link failedSignIns} by default. */
  readonly policy?: string;
}

/** The policy of all limits that failed sign-ins reach. A rejection by any other policy is no sign of guessing. */
export const failedSignIns = 'sign-ins';

const minuteMs = limits.signInTrustedPairWindowSeconds * 1000;
const windowMs = limits.signInWindowSeconds * 1000;
/** The window of an origin that is not trusted begins now, even if an earlier one is kept. */
const startsAgain = { windowMs: 0 };
const pairDecay = { windowMs: limits.signInPairWindowSeconds * 1000 };
const emailDecay = { leakMs: limits.signInEmailLeakSeconds * 1000 };

type Row = Awaited<ReturnType<typeof store.readBuckets>>[number];

export class SignInLimits {
  readonly #options: SignInLimitsOptions;
  /** Attempts share their reads: a flood of rejected attempts costs few statements. */
  readonly #reader: CoalescingReader<Buffer, NonNullable<Row>>;

  constructor(options: SignInLimitsOptions) {
    const { db } = options;
    this.#options = options;
    this.#reader = new CoalescingReader((buckets) => store.readBuckets(db, buckets), db.sharedReads);
  }

  /**
   * Checks the limits by reads alone, so that a rejection costs no commit.
   * @throws DomainError `too_many_attempts`
   */
  async assess(attempt: SignInAttempt): Promise<AssessedAttempt> {
    const { clock, enabled } = this.#options;
    const now = clock.now();
    if (!enabled) return { ...attempt, isTrusted: false, isOriginTrusted: false, startedAt: now };
    const { pair, signedIn, origin, ownerChanged, passwordSet, successes, trusted, untrusted } = this.#buckets(attempt);
    const counters = [...trusted, successes, ...untrusted];
    const buckets = [pair, signedIn, origin, ownerChanged, passwordSet, ...counters.map(({ bucket }) => bucket)];
    const [pairRow, signedInRow, originRow, ownerRow, passwordRow, ...rows] = await this.#read(buckets);
    const clearedAt = Math.max(ownerRow?.touchedAt ?? 0, passwordRow?.touchedAt ?? 0);
    const isTrustedSince = (row: Row): boolean => isRecent(row, now) && row.touchedAt >= clearedAt;
    const isTrusted = isTrustedSince(signedInRow);
    if (!isTrusted) assertUnblocked(store.predictIncrement(pairRow, now, pairDecay), now);
    for (const [index, counter] of counters.entries()) {
      if (untrusted.includes(counter) === isTrusted) continue;
      assertBelow(store.predictIncrement(rows[index], now, counter.decay), counter, now);
    }
    return { ...attempt, isTrusted, isOriginTrusted: isTrustedSince(originRow), startedAt: now };
  }

  /**
   * Counts the attempt. Its transaction decides.
   * @throws DomainError `too_many_attempts`, with nothing counted
   */
  async reserve(attempt: SignInAttempt | AssessedAttempt): Promise<Reservation> {
    const { db, clock, enabled } = this.#options;
    const assessed = 'isTrusted' in attempt ? attempt : await this.assess(attempt);
    const { isTrusted } = assessed;
    if (!enabled) return { ...assessed, failures: 0 };
    const { pair, trusted, untrusted, failures } = this.#buckets(attempt);
    const now = clock.now();
    const before = await db.transaction(async (tx) => {
      // The counts are sent together. Each is checked afterwards, because an error rolls all of them back.
      const [counted, , { count }] = await allInOrder([
        isTrusted ? undefined : store.incrementTx(tx, pair, now, pairDecay).then((row) => assertUnblocked(row, now)),
        allInOrder(
          (isTrusted ? trusted : untrusted).map(async (counter) =>
            assertBelow(await store.incrementTx(tx, counter.bucket, now, counter.decay), counter, now),
          ),
        ),
        // For the mail about a suspicious sign-in. It rejects nothing, so that a success may clear it.
        store.incrementTx(tx, failures, now),
      ]);
      const delayed = counted ? counted.count - limits.signInPairFreeFailures : -1;
      if (delayed >= 0) store.blockTx(tx, pair, now + delayMs(delayed));
      return count - 1;
    });
    return { ...assessed, failures: before };
  }

  /**
   * In the transaction of the session: removes the attempt from the counts, counts the success, and trusts the range.
   * @throws DomainError `too_many_attempts` when the account signs in too often; the attempt stays counted then
   */
  async succeedTx(tx: Transaction, reservation: Reservation): Promise<void> {
    const { clock, enabled } = this.#options;
    if (!enabled) return;
    const { pair, trusted, successes, failures, signedIn, origin } = this.#buckets(reservation);
    const { startedAt, isOriginTrusted } = reservation;
    const [{ bucket: trustedPair }] = trusted;
    const now = clock.now();
    store.clearTx(tx, reservation.isTrusted ? trustedPair : pair);
    this.#decrementTx(tx, reservation);
    const succeeded = store.incrementTx(tx, successes.bucket, now, successes.decay);
    store.clearTx(tx, failures);
    // As of before the password was checked: a password that was replaced since makes no range trusted.
    const trust = store.incrementTx(tx, signedIn, startedAt);
    const trustOrigin = store.incrementTx(tx, origin, startedAt, isOriginTrusted ? undefined : startsAgain);
    const [row] = await allInOrder([succeeded, trust, trustOrigin]);
    assertBelow(row, successes, now);
  }

  /** {@link succeedTx} in a transaction of its own. */
  async succeed(reservation: Reservation): Promise<void> {
    await this.#options.db.transaction((tx) => this.succeedTx(tx, reservation));
  }

  /** Removes the attempt from the counts: the password was not checked. */
  async release(reservation: Reservation): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const { pair, failures } = this.#buckets(reservation);
    await db.transaction(async (tx) => {
      if (!reservation.isTrusted) {
        store.decrementTx(tx, pair);
        store.blockTx(tx, pair, 0);
      }
      this.#decrementTx(tx, reservation);
      store.decrementTx(tx, failures);
    });
  }

  /**
   * Whether the account signed in from this address range within 30 days, even with a password that was replaced since: a
   * thief who replaces it must not use up the owner's own allowance of resets.
   */
  async hasSignedInRecently(attempt: SignInAttempt): Promise<boolean> {
    const { signedIn, ownerChanged } = this.#buckets(attempt);
    const [signedInRow, ownerRow] = await this.#read([signedIn, ownerChanged]);
    return isRecent(signedInRow, this.#options.clock.now()) && signedInRow.touchedAt >= (ownerRow?.touchedAt ?? 0);
  }

  /**
   * Which of some client IP ranges were trusted before a time: sign-ins of a thief make ranges trusted too.
   * @param ranges in the form of `coarseRange`
   * @param before milliseconds
   */
  async trustedBefore(canonicalEmail: string, ranges: Iterable<string>, before: number): Promise<ReadonlySet<string>> {
    const asked = [...new Set(ranges)];
    const { passwordSet } = this.#buckets({ canonicalEmail, clientIp: '' });
    const origins = asked.map((range) => this.#originOf(canonicalEmail, range));
    const [cleared, ...rows] = await store.readBuckets(this.#options.db, [passwordSet, ...origins]);
    // A later clearing may be the thief's.
    const clearedAt = cleared && cleared.touchedAt < before ? cleared.touchedAt : 0;
    const isTrusted = (row: Row): boolean =>
      isRecent(row, before) && row.windowStartedAt < before && row.touchedAt >= clearedAt;
    return new Set(asked.filter((_, index) => isTrusted(rows[index])));
  }

  /**
   * Clears the email's trusted address ranges, in the transaction that replaces the password.
   * @param clientIp of the client that replaced it: its range is trusted at once, so that no other client can lock the
   *   owner out there
   */
  async clearTrustedRangesTx(tx: Transaction, canonicalEmail: string, clientIp?: string): Promise<void> {
    const { origin, ownerChanged, passwordSet } = this.#buckets({ canonicalEmail, clientIp: clientIp ?? '' });
    const [originRow, ...cleared] = await allInOrder(
      [origin, ownerChanged, passwordSet].map((bucket) => store.readBucketTx(tx, bucket)),
    );
    const clearedAt = Math.max(...cleared.map((row) => row?.touchedAt ?? 0));
    const isOriginTrusted = isRecent(originRow, this.#options.clock.now()) && originRow.touchedAt >= clearedAt;
    await this.#clearTrustTx(tx, passwordSet, { canonicalEmail, clientIp }, isOriginTrusted);
  }

  /**
   * The email has another owner, or none: clears the trusted address ranges of the former owner, also for resets.
   * @param clientIp of the client that has shown that the email is its own
   */
  async changeEmailOwnerTx(tx: Transaction, canonicalEmail: string, clientIp?: string): Promise<void> {
    const { ownerChanged } = this.#buckets({ canonicalEmail, clientIp: clientIp ?? '' });
    await this.#clearTrustTx(tx, ownerChanged, { canonicalEmail, clientIp });
  }

  async #clearTrustTx(
    tx: Transaction,
    marker: Buffer,
    { canonicalEmail, clientIp }: { readonly canonicalEmail: string; readonly clientIp: string | undefined },
    isOriginTrusted = false,
  ): Promise<void> {
    // Later than the start of every sign-in in progress.
    const from = this.#options.clock.now() + 1;
    await store.incrementTx(tx, marker, from);
    if (clientIp === undefined) return;
    const { signedIn, origin } = this.#buckets({ canonicalEmail, clientIp });
    await store.incrementTx(tx, signedIn, from);
    await store.incrementTx(tx, origin, from, isOriginTrusted ? undefined : startsAgain);
  }

  #decrementTx(tx: Transaction, reservation: Reservation): void {
    const { trusted, untrusted } = this.#buckets(reservation);
    for (const { bucket } of reservation.isTrusted ? trusted : untrusted) store.decrementTx(tx, bucket);
  }

  #read(buckets: readonly Buffer[]): Promise<Row[]> {
    return Promise.all(buckets.map((bucket) => this.#reader.read(bucket)));
  }

  #originOf(canonicalEmail: string, range: string): Buffer {
    return this.#options.bucketHash.stored(JSON.stringify(['sign-in coarse origin', canonicalEmail, range]));
  }

  #buckets({ canonicalEmail, clientIp }: SignInAttempt) {
    const { range, network, configured } = rangesOf(clientIp, this.#options.ipRangeLimits);
    const bucket = (...parts: readonly string[]): Buffer => this.#options.bucketHash.stored(JSON.stringify(parts));
    const windowed = (name: readonly string[], max: number, ms = windowMs): Counter => ({
      bucket: bucket(...name),
      max,
      decay: { windowMs: ms },
    });
    const leaking = (name: readonly string[]): Counter => ({
      bucket: bucket(...name),
      max: limits.signInEmailFailuresMax,
      decay: emailDecay,
    });
    const rangeMax = configured?.failuresMax ?? limits.signInRangeFailuresMax;
    const trustedFactor = limits.signInTrustedFailuresFactor;
    return {
      pair: bucket('sign-in pair', canonicalEmail, range),
      successes: {
        ...windowed(['sign-in successes', canonicalEmail], limits.signInsPerMinuteMax, minuteMs),
        policy: 'successful sign-ins',
      },
      failures: bucket('sign-in failures', canonicalEmail),
      // These three hold times only: of the last sign-in, the last change of the owner, the last new password.
      signedIn: bucket('sign-in origin', canonicalEmail, range),
      // Its window begins when the coarse range of the client IP became trusted.
      origin: this.#originOf(canonicalEmail, coarseRange(clientIp) ?? 'unknown'),
      ownerChanged: bucket('sign-in email moved', canonicalEmail),
      passwordSet: bucket('sign-in password replaced', canonicalEmail),
      trusted: [
        windowed(['sign-in trusted pair', canonicalEmail, range], limits.signInTrustedPairFailuresMax, minuteMs),
        windowed(['sign-in trusted range', range], rangeMax * trustedFactor),
        ...(network
          ? [windowed(['sign-in trusted network', network], limits.signInNetworkFailuresMax * trustedFactor)]
          : []),
      ] as const,
      untrusted: [
        leaking(['sign-in email', canonicalEmail]),
        leaking(['sign-in mailbox', withoutTag(canonicalEmail)]),
        windowed(['sign-in range', range], rangeMax),
        ...(network ? [windowed(['sign-in network', network], limits.signInNetworkFailuresMax)] : []),
        windowed(['sign-in global'], limits.signInGlobalFailuresMax),
      ],
    };
  }
}

/**
 * The counted ranges of a client IP. `network` is the IPv6 /48. It is undefined for IPv4, and for a range with a configured
 * limit, which must not use up the limit of its neighbours.
 */
export function rangesOf(clientIp: string, ipRangeLimits: readonly IpRangeLimit[]) {
  const range = ipRange(clientIp);
  const network = ipRange(clientIp, 48);
  const configured = ipRangeLimits.find(({ cidr }) => isWithin(clientIp, cidr));
  return { range, network: network === range || configured ? undefined : network, configured };
}

/** Addresses that differ only in their `+tag` are often one mailbox, so they are counted together as well. */
export const withoutTag = (canonicalEmail: string): string => canonicalEmail.replace(/^([^+@]*)\+[^@]*@/, '$1@');

const isRecent = (signedIn: Row, now: number): signedIn is NonNullable<Row> =>
  signedIn !== undefined && signedIn.touchedAt >= now - limits.signInOriginTrustDays * dayMs;

/** @returns the counter @throws DomainError `too_many_attempts` */
function assertUnblocked(counter: store.Bucket, now: number): store.Bucket {
  if (store.isBlocked(counter, now, limits.signInPairDelaySecondsMax * 1000))
    throw tooManyAttempts(counter.blockedUntil - now);
  return counter;
}

/** @throws DomainError `too_many_attempts` */
function assertBelow({ count, windowStartedAt }: store.Bucket, { max, decay, policy }: Counter, now: number): void {
  if (count <= max) return;
  if ('leakMs' in decay) throw tooManyAttempts(windowStartedAt + decay.leakMs - now, max, max * decay.leakMs, policy);
  throw tooManyAttempts(windowStartedAt + decay.windowMs - now, max, decay.windowMs, policy);
}

/**
 * The delay before the next attempt: doubles with each failure, up to a bound.
 * @param delayed failures since the last one without a delay
 */
export function delayMs(delayed: number): number {
  const seconds = limits.signInPairDelaySecondsFirst * 2 ** Math.min(delayed, 30);
  return Math.min(limits.signInPairDelaySecondsMax, seconds) * 1000;
}

/** @param quota of this policy in `quotaMs` milliseconds */
export function tooManyAttempts(
  retryMs: number,
  quota: number = limits.signInPairFreeFailures,
  quotaMs: number = windowMs,
  policy: string = failedSignIns,
): DomainError {
  return new DomainError('too_many_attempts', {
    retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000)),
    rate: { policy, quota, windowSeconds: quotaMs / 1000 },
  });
}
