/**
 * Rate limits of sign-ins. Each attempt is counted as a failure before the password is checked, and given back when the
 * password was right: a parallel burst finds the counters already raised. Emails are counted whether or not an account
 * has them. A rejected attempt never reaches the hash, not even with the right password. Numbers: `limits`.
 *
 * An attempt from a trusted address range (the email signed in from there within 30 days) and any other attempt count
 * in separate counters:
 *
 * - trusted: email and range together, and the range (and its /48 of IPv6) over all emails. No client elsewhere can
 *   raise these counters.
 * - any other: email and range together, then waits that double; the email, and the email without its `+tag`; the
 *   range, its /48, and all ranges together. Anyone can raise these counters, so they decay by time alone: a successful
 *   sign-in or a new password changes nothing in them, and they behave alike for an email without an account.
 *
 * Setting a password clears the email's trusted ranges, except the one that it was set from: a thief may have signed in
 * with the old password. When an email gets another owner, all its trusted ranges are cleared.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { ipRange, isWithin } from '../../foundation/ip-address.ts';
import * as store from './store.ts';

/** More failures than usual from a network that the operator trusts, such as a backend that signs its users in. */
export interface IpRangeLimit {
  readonly cidr: string;
  readonly failuresMax: number;
}

export interface SignInLimitsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  readonly addressLimits: readonly IpRangeLimit[];
  /** Off for load tests. */
  readonly enabled: boolean;
}

export interface SignInAttempt {
  /** The canonical email; for text that is no email address, the text as it was sent. */
  readonly canonicalEmail: string;
  /** The client IP. */
  readonly address: string;
}

/** An attempt that the committed counters allow. */
export interface AssessedAttempt extends SignInAttempt {
  /** Whether the email signed in from this address range within 30 days. */
  readonly isTrusted: boolean;
  /** Before the password is checked. */
  readonly startedAt: number;
}

/** An attempt that was counted. */
export interface Reservation extends AssessedAttempt {
  /** Failed sign-ins of the email since its last successful one. */
  readonly failures: number;
}

/** A count over which an attempt is rejected. */
interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  readonly decay: Exclude<store.Decay, undefined>;
  /** Its name in the response; {@link failedSignIns} unless given. */
  readonly policy?: string;
}

/** The limits that failed sign-ins reach. A rejection by any other limit says nothing about guesses. */
export const failedSignIns = 'sign-ins';

const dayMs = 86_400_000;
const minuteMs = limits.loginKnownPairWindowSeconds * 1000;
const windowMs = limits.loginWindowSeconds * 1000;
const pairDecay = { windowMs: limits.loginPairWindowSeconds * 1000 };
const emailDecay = { leakMs: limits.loginEmailLeakSeconds * 1000 };

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
   * Judges the attempt by reads alone, so that a rejection costs no commit.
   * @throws DomainError `too_many_attempts`
   */
  async assess(attempt: SignInAttempt): Promise<AssessedAttempt> {
    const { clock, enabled } = this.#options;
    const now = clock.now();
    if (!enabled) return { ...attempt, isTrusted: false, startedAt: now };
    const { pair, origin, moved, replaced, successes, trusted, untrusted } = this.#buckets(attempt);
    const counters = [...trusted, successes, ...untrusted];
    const buckets = [pair, origin, moved, replaced, ...counters.map(({ bucket }) => bucket)];
    const [pairRow, seen, left, renewed, ...rows] = await this.#read(buckets);
    const clearedAt = Math.max(left?.touchedAt ?? 0, renewed?.touchedAt ?? 0);
    const isTrusted = isRecent(seen, now) && seen.touchedAt >= clearedAt;
    if (!isTrusted) assertUnblocked(store.foresee(pairRow, now, pairDecay), now);
    for (const [index, counter] of counters.entries()) {
      if (untrusted.includes(counter) === isTrusted) continue;
      assertBelow(store.foresee(rows[index], now, counter.decay), counter, now);
    }
    return { ...attempt, isTrusted, startedAt: now };
  }

  /**
   * Counts the attempt, in the transaction that decides.
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
      if (!isTrusted) {
        const raised = await store.raise(tx, pair, now, pairDecay);
        assertUnblocked(raised, now);
        const paid = raised.count - limits.loginPairFreeFailures;
        if (paid >= 0) await store.block(tx, pair, now + waitMs(paid));
      }
      for (const counter of isTrusted ? trusted : untrusted)
        assertBelow(await store.raise(tx, counter.bucket, now, counter.decay), counter, now);
      // For the mail about a suspicious sign-in. It rejects nothing, so that a success may clear it.
      return (await store.raise(tx, failures, now)).count - 1;
    });
    return { ...assessed, failures: before };
  }

  /**
   * In the transaction of the session: gives the attempt back, counts the success, and trusts the address range.
   * @throws DomainError `too_many_attempts` when the account signs in too often; the attempt stays counted then
   */
  async succeedIn(tx: Transaction, reservation: Reservation): Promise<void> {
    const { clock, enabled } = this.#options;
    if (!enabled) return;
    const { pair, trusted, successes, failures, origin } = this.#buckets(reservation);
    const [{ bucket: trustedPair }] = trusted;
    const now = clock.now();
    await store.clear(tx, reservation.isTrusted ? trustedPair : pair);
    await this.#lowerIn(tx, reservation);
    assertBelow(await store.raise(tx, successes.bucket, now, successes.decay), successes, now);
    await store.clear(tx, failures);
    // As of before the password was checked: a password that was replaced since makes no range trusted.
    await store.raise(tx, origin, reservation.startedAt);
  }

  /** {@link succeedIn} in a transaction of its own. */
  async succeed(reservation: Reservation): Promise<void> {
    await this.#options.db.transaction((tx) => this.succeedIn(tx, reservation));
  }

  /** Takes the count back: the password was not checked. */
  async release(reservation: Reservation): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const { pair, failures } = this.#buckets(reservation);
    await db.transaction(async (tx) => {
      if (!reservation.isTrusted) {
        await store.lower(tx, pair);
        await store.block(tx, pair, 0);
      }
      await this.#lowerIn(tx, reservation);
      await store.lower(tx, failures);
    });
  }

  /**
   * Whether the account signed in from this address range within 30 days, even with a password that was replaced since: a
   * thief who replaces it must not take the owner's own allowance of resets.
   */
  async signedInLately(attempt: SignInAttempt): Promise<boolean> {
    const { origin, moved } = this.#buckets(attempt);
    const [seen, left] = await this.#read([origin, moved]);
    return isRecent(seen, this.#options.clock.now()) && seen.touchedAt >= (left?.touchedAt ?? 0);
  }

  /**
   * A password was replaced: clears the trusted address ranges in the same transaction.
   * @param address of the client that replaced it: its range is trusted at once, so that no other client can lock the
   *   owner out there
   */
  async distrustIn(tx: Transaction, canonicalEmail: string, address?: string): Promise<void> {
    const { replaced } = this.#buckets({ canonicalEmail, address: address ?? '' });
    await this.#clearTrustIn(tx, replaced, canonicalEmail, address);
  }

  /**
   * The email has another owner, or none: clears everything that the former owner's address ranges were trusted with.
   * @param address of the client that showed that the email is its own
   */
  async changeOwnerIn(tx: Transaction, canonicalEmail: string, address?: string): Promise<void> {
    const { moved } = this.#buckets({ canonicalEmail, address: address ?? '' });
    await this.#clearTrustIn(tx, moved, canonicalEmail, address);
  }

  async #clearTrustIn(tx: Transaction, marker: Buffer, canonicalEmail: string, address?: string): Promise<void> {
    // Later than every sign-in that has begun.
    const from = this.#options.clock.now() + 1;
    await store.raise(tx, marker, from);
    if (address !== undefined) await store.raise(tx, this.#buckets({ canonicalEmail, address }).origin, from);
  }

  async #lowerIn(tx: Transaction, reservation: Reservation): Promise<void> {
    const { trusted, untrusted } = this.#buckets(reservation);
    for (const { bucket } of reservation.isTrusted ? trusted : untrusted) await store.lower(tx, bucket);
  }

  #read(buckets: readonly Buffer[]): Promise<Row[]> {
    return Promise.all(buckets.map((bucket) => this.#reader.read(bucket)));
  }

  #buckets({ canonicalEmail, address }: SignInAttempt) {
    const range = ipRange(address);
    const network = ipRange(address, 48);
    const raised = this.#options.addressLimits.find(({ cidr }) => isWithin(address, cidr));
    const bucket = (...parts: readonly string[]): Buffer => this.#options.bucketHash.stored(JSON.stringify(parts));
    const windowed = (name: readonly string[], max: number, ms = windowMs): Counter => ({
      bucket: bucket(...name),
      max,
      decay: { windowMs: ms },
    });
    const leaking = (name: readonly string[]): Counter => ({
      bucket: bucket(...name),
      max: limits.loginEmailFailuresMax,
      decay: emailDecay,
    });
    const rangeMax = raised?.failuresMax ?? limits.loginAddressFailuresMax;
    // An IPv4 address has no such network, and a range that the operator trusts must not use up its neighbours' share.
    const hasNetwork = network !== range && !raised;
    const trustedFactor = limits.loginTrustedFailuresFactor;
    // Aliases such as name+tag@ are often one mailbox, so they are counted together as well.
    const untagged = canonicalEmail.replace(/\+[^@]*@/, '@');
    return {
      pair: bucket('login pair', canonicalEmail, range),
      successes: {
        ...windowed(['login successes', canonicalEmail], limits.signInsPerMinuteMax, minuteMs),
        policy: 'successful sign-ins',
      },
      failures: bucket('login failures', canonicalEmail),
      origin: bucket('login origin', canonicalEmail, range),
      moved: bucket('login email moved', canonicalEmail),
      replaced: bucket('login password replaced', canonicalEmail),
      trusted: [
        windowed(['login known pair', canonicalEmail, range], limits.loginKnownPairFailuresMax, minuteMs),
        windowed(['login trusted address', range], rangeMax * trustedFactor),
        ...(hasNetwork
          ? [windowed(['login trusted network', network], limits.loginNetworkFailuresMax * trustedFactor)]
          : []),
      ] as const,
      untrusted: [
        leaking(['login email', canonicalEmail]),
        leaking(['login mailbox', untagged]),
        windowed(['login address', range], rangeMax),
        ...(hasNetwork ? [windowed(['login network', network], limits.loginNetworkFailuresMax)] : []),
        windowed(['login global'], limits.loginGlobalFailuresMax),
      ],
    };
  }
}

const isRecent = (origin: Row, now: number): origin is NonNullable<Row> =>
  origin !== undefined && origin.touchedAt >= now - limits.loginOriginTrustDays * dayMs;

/** @throws DomainError `too_many_attempts` */
function assertUnblocked({ blockedUntil }: store.Bucket, now: number): void {
  if (blockedUntil > now) throw refusal(blockedUntil - now);
}

/** @throws DomainError `too_many_attempts` */
function assertBelow({ count, windowStartedAt }: store.Bucket, { max, decay, policy }: Counter, now: number): void {
  if (count <= max) return;
  if ('leakMs' in decay) throw refusal(windowStartedAt + decay.leakMs - now, max, max * decay.leakMs, policy);
  throw refusal(windowStartedAt + decay.windowMs - now, max, decay.windowMs, policy);
}

/** Doubles with each try beyond the free ones. */
export function waitMs(paid: number): number {
  const seconds = limits.loginPairDelaySecondsFirst * 2 ** Math.min(paid, 30);
  return Math.min(limits.loginPairDelaySecondsMax, seconds) * 1000;
}

export function refusal(
  ms: number,
  quota: number = limits.loginPairFreeFailures,
  inMs: number = windowMs,
  policy: string = failedSignIns,
): DomainError {
  return new DomainError('too_many_attempts', {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
    rate: { policy, quota, windowSeconds: inMs / 1000 },
  });
}
