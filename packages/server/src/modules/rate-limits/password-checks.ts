/**
 * Limits the password checks in progress in this process. A check costs a hash, the most expensive operation that any
 * client can request. Slots are shared fairly, and a check without a slot is rejected at once, before any write.
 *
 * - per email: two for trusted address ranges and two for all others, so that other clients cannot lock the owner out
 * - per address range: at most as many slots as remain free. One range alone gets half of all slots, two get a third
 *   each (dynamic thresholds, Choudhury and Hahne 1998), and a range without a check in progress gets the last slot
 * - address ranges that are not trusted: at most three quarters of all slots
 */
import { limits } from '@keyreeve/contract';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import { DomainError } from '../../foundation/errors.ts';
import { ipRange } from '../../foundation/ip-address.ts';
import { tooManyAttempts, type AssessedAttempt } from './sign-in-limits.ts';

const untrustedShare = 0.75;
const retryAfterSeconds = 1;
const retryMs = retryAfterSeconds * 1000;

type CheckedAttempt = Pick<AssessedAttempt, 'canonicalEmail' | 'clientIp' | 'isTrusted'>;

export interface PasswordChecksOptions {
  readonly hasher: PasswordHasher;
  /** Off for load tests, from one email and one client IP: then only the total is limited. */
  readonly isFair: boolean;
}

export class PasswordChecks {
  readonly #hasher: PasswordHasher;
  readonly #isFair: boolean;
  readonly #byEmail = new Map<string, number>();
  readonly #byRange = new Map<string, number>();
  #inProgress = 0;
  #untrusted = 0;

  constructor({ hasher, isFair }: PasswordChecksOptions) {
    this.#hasher = hasher;
    this.#isFair = isFair;
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  /** Holds a slot while the check runs. @throws DomainError as {@link acquire} */
  async run<T>(attempt: CheckedAttempt, check: () => Promise<T>): Promise<T> {
    const release = this.acquire(attempt);
    try {
      return await check();
    } finally {
      release();
    }
  }

  /**
   * @returns a function that releases the slot
   * @throws DomainError `too_many_attempts` when the email has two slots; `overloaded` when no other slot is free
   */
  acquire({ canonicalEmail, clientIp, isTrusted }: CheckedAttempt): () => void {
    const email = `${isTrusted ? 'trusted' : 'untrusted'} ${canonicalEmail}`;
    const range = ipRange(clientIp);
    if (this.#isFair && (this.#byEmail.get(email) ?? 0) >= limits.passwordChecksPerEmailMax)
      throw tooManyAttempts(retryMs, limits.passwordChecksPerEmailMax, retryMs, 'sign-ins in progress');
    this.#hasher.assertCapacity();
    const slots = Math.min(limits.signInsUnderWayMax, this.#hasher.checksMax);
    const isRangeFull = (this.#byRange.get(range) ?? 0) >= slots - this.#inProgress;
    const isShareFull = !isTrusted && this.#untrusted >= Math.max(1, Math.floor(slots * untrustedShare));
    const isFull = this.#inProgress >= slots || (this.#isFair && (isRangeFull || isShareFull));
    if (isFull) throw new DomainError('overloaded', { retryAfterSeconds });
    this.#add(email, range, isTrusted, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#add(email, range, isTrusted, -1);
      isReleased = true;
    };
  }

  #add(email: string, range: string, isTrusted: boolean, by: 1 | -1): void {
    this.#inProgress += by;
    if (!isTrusted) this.#untrusted += by;
    addTo(this.#byEmail, email, by);
    addTo(this.#byRange, range, by);
  }
}

/** Deletes counts of zero: clients choose the keys, so the map would grow without bound. */
function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
