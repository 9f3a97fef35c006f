/**
 * How often a sign-in may be tried. Each attempt is counted as a failure before the password is looked at and given
 * back when it was right, so a parallel burst finds the counters already raised. Emails are counted whether or not an
 * account has them. A refused attempt never reaches the hash, not even with the right password. Numbers: `limits`.
 *
 * - email and address range together: a few tries, then waits that double; where the email signed in lately (a known
 *   range), a number in a minute instead, so that one neighbour's try doesn't make the owner wait. A new password
 *   makes all ranges strange but the one it was set from: a thief may have signed in with the old one
 * - email: after 100 failures in a row only known ranges may go on, so that nobody can lock the owner out from
 *   elsewhere (NIST SP 800-63B)
 * - address range over all emails, its /48 of IPv6, and all addresses together: failures in a window, with the same
 *   exception
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../clock.ts';
import type { KeyedHash } from '../crypto/keyed-hash.ts';
import type { Db, Transaction } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import { addressRange, isWithin } from './address.ts';
import * as store from './store.ts';

/** More failures than usual from a network that the operator trusts, such as a backend that signs its users in. */
export interface AddressLimit {
  readonly cidr: string;
  readonly failuresMax: number;
}

export interface LoginThrottleOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  readonly addressLimits: readonly AddressLimit[];
  /** Off for load tests. */
  readonly enabled: boolean;
}

export interface LoginAttempt {
  /** Normalised; for what is no address at all, the text as it came. */
  readonly emailKey: string;
  readonly address: string;
}

/** How the counters are raised: for good, or only to see whether that would be refused. */
interface Counting {
  readonly tx: Pick<Transaction, 'get'>;
  readonly raise: (bucket: Buffer, now: number, windowMs?: number) => Promise<store.Bucket>;
  readonly block: (bucket: Buffer, until: number) => Promise<void>;
}

const dayMs = 86_400_000;
const windowMs = limits.loginWindowSeconds * 1000;
const knownPairWindowMs = limits.loginKnownPairWindowSeconds * 1000;

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
  }

  /**
   * Counts the attempt.
   * @returns how many for the email have failed in a row before it
   * @throws DomainError `too_many_attempts`, with nothing counted
   */
  async reserve(attempt: LoginAttempt): Promise<number> {
    const { db, enabled } = this.#options;
    if (!enabled) return 0;
    // First by plain reads: a flood of what is refused already would keep the only writer from everybody else.
    await this.#count(attempt, {
      tx: db,
      raise: (...counter) => store.foresee(db, ...counter),
      block: () => Promise.resolve(),
    });
    // This decides.
    return db.transaction((tx) =>
      this.#count(attempt, {
        tx,
        raise: (...counter) => store.raise(tx, ...counter),
        block: (...pair) => store.block(tx, ...pair),
      }),
    );
  }

  /**
   * Gives the attempt back: the password was right. The address range is known to the email from now on.
   * @param startedAt before the password was looked at: one that has been replaced since makes nothing known
   */
  async succeed(attempt: LoginAttempt, startedAt: number): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const buckets = this.#buckets(attempt);
    await db.transaction(async (tx) => {
      const [email, mailbox] = buckets.emails;
      for (const pair of [buckets.pair, buckets.knownPair]) await store.clear(tx, pair);
      // Its own failures are over; those of its aliases stay.
      await store.lower(tx, mailbox, await store.clear(tx, email));
      for (const { bucket } of buckets.windows) await store.lower(tx, bucket);
      await store.raise(tx, buckets.origin, startedAt);
    });
  }

  /** Takes the count back: the password was never looked at. */
  async release(attempt: LoginAttempt): Promise<void> {
    const { db, enabled } = this.#options;
    if (!enabled) return;
    const { pair, knownPair, emails, windows } = this.#buckets(attempt);
    await db.transaction(async (tx) => {
      for (const bucket of [pair, knownPair, ...emails]) await store.lower(tx, bucket);
      for (const { bucket } of windows) await store.lower(tx, bucket);
      await store.block(tx, pair, 0);
    });
  }

  /**
   * Whether the email signed in from this address range lately, be it with a password that was replaced since: a thief who
   * replaces it must not take from the owner what lets the owner recover.
   */
  async signedInLately(attempt: LoginAttempt): Promise<boolean> {
    const { db, clock } = this.#options;
    return isLately(await store.touchedAt(db, this.#buckets(attempt).origin), clock.now());
  }

  /**
   * The password was replaced: address ranges that are known by an earlier one may have been a thief's, and are strange.
   * @param address from where it was replaced, which is known at once, so that nobody can lock the owner out there
   */
  async distrust(emailKey: string, address?: string): Promise<void> {
    const { db } = this.#options;
    await db.transaction((tx) => this.#distrust(tx, emailKey, address));
  }

  /** Forgets an email's failures as well: an operator or the mailbox's owner has set a new password. */
  async forgive(emailKey: string, address?: string): Promise<void> {
    const { emails } = this.#buckets({ emailKey, address: '' });
    await this.#options.db.transaction(async (tx) => {
      for (const bucket of emails) await store.clear(tx, bucket);
      await this.#distrust(tx, emailKey, address);
    });
  }

  async #distrust(tx: Transaction, emailKey: string, address?: string): Promise<void> {
    const now = this.#options.clock.now();
    const { origin, replaced } = this.#buckets({ emailKey, address: address ?? '' });
    await store.raise(tx, replaced, now);
    if (address !== undefined) await store.raise(tx, origin, now);
  }

  /** Whether the email signed in from this address range lately, with the password that it has now. */
  async #isKnown(tx: Pick<Transaction, 'get'>, attempt: LoginAttempt, now: number): Promise<boolean> {
    const { origin, replaced } = this.#buckets(attempt);
    const seenAt = await store.touchedAt(tx, origin);
    return isLately(seenAt, now) && seenAt >= ((await store.touchedAt(tx, replaced)) ?? 0);
  }

  /** @throws DomainError `too_many_attempts` at the first counter that is full */
  async #count(attempt: LoginAttempt, { tx, raise, block }: Counting): Promise<number> {
    const { pair, knownPair, emails, windows } = this.#buckets(attempt);
    const now = this.#options.clock.now();
    const isKnown = await this.#isKnown(tx, attempt, now);
    if (isKnown) {
      const { count, windowStartedAt } = await raise(knownPair, now, knownPairWindowMs);
      const failuresMax = limits.loginKnownPairFailuresMax;
      if (count > failuresMax) throw refusal(windowStartedAt + knownPairWindowMs - now, failuresMax, knownPairWindowMs);
    } else {
      const { count, blockedUntil } = await raise(pair, now);
      if (blockedUntil > now) throw refusal(blockedUntil - now);
      const paid = count - limits.loginPairFreeFailures;
      if (paid >= 0) await block(pair, now + waitMs(paid));
    }
    let failures: number | undefined;
    for (const email of emails) {
      const { count } = await raise(email, now);
      // The first is the email as it is.
      failures ??= count - 1;
      if (count > limits.loginEmailFailuresMax && !isKnown) throw refusal(limits.loginPairDelaySecondsMax * 1000);
    }
    for (const { bucket, failuresMax } of windows) {
      const { count, windowStartedAt } = await raise(bucket, now, windowMs);
      if (count > failuresMax && !isKnown) throw refusal(windowStartedAt + windowMs - now, failuresMax);
    }
    return failures ?? 0;
  }

  #buckets({ emailKey, address }: LoginAttempt) {
    const range = addressRange(address);
    const network = addressRange(address, 48);
    const raised = this.#options.addressLimits.find(({ cidr }) => isWithin(address, cidr));
    const bucket = (...parts: readonly string[]): Buffer => this.#options.bucketHash.stored(JSON.stringify(parts));
    // Aliases such as name+tag@ often are one mailbox, so they are counted together as well.
    const untagged = emailKey.replace(/\+[^@]*@/, '@');
    const email = bucket('login email', emailKey);
    return {
      pair: bucket('login pair', emailKey, range),
      knownPair: bucket('login known pair', emailKey, range),
      emails: [email, bucket('login mailbox', untagged)] as const,
      windows: [
        { bucket: bucket('login address', range), failuresMax: raised?.failuresMax ?? limits.loginAddressFailuresMax },
        // An IPv4 address has none, and what the operator trusts with more doesn't use up its neighbours' share.
        ...(network === range || raised
          ? []
          : [{ bucket: bucket('login network', network), failuresMax: limits.loginNetworkFailuresMax }]),
        { bucket: bucket('login global'), failuresMax: limits.loginGlobalFailuresMax },
      ],
      origin: bucket('login origin', emailKey, range),
      replaced: bucket('login password replaced', emailKey),
    };
  }
}

const isLately = (seenAt: number | undefined, now: number): seenAt is number =>
  seenAt !== undefined && seenAt >= now - limits.loginOriginTrustDays * dayMs;

/** Doubles with each try beyond the free ones. */
export function waitMs(paid: number): number {
  const seconds = limits.loginPairDelaySecondsFirst * 2 ** Math.min(paid, 30);
  return Math.min(limits.loginPairDelaySecondsMax, seconds) * 1000;
}

export function refusal(
  ms: number,
  quota: number = limits.loginPairFreeFailures,
  inMs: number = windowMs,
): DomainError {
  return new DomainError('too_many_attempts', {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
    rate: { policy: 'sign-ins', quota, windowSeconds: inMs / 1000 },
  });
}
