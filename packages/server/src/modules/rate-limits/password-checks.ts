/**
 * Which password checks may be in progress at once, in this process. A check costs a hash, the most expensive work that a
 * stranger can request, so its places are shared out fairly and never wait for each other: a check without a place is
 * rejected before anything is written.
 *
 * - per email: at most two, and two more for strangers, so that strangers can't keep its owner out
 * - per address range: at most as many as remain free. One range alone gets half of all places, two get a third each
 *   (dynamic thresholds, Choudhury and Hahne 1998), and a range without a check in progress gets the last place
 * - checks from address ranges that are not trusted: at most three quarters of all places
 */
import { limits } from '@keyreeve/contract';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import { DomainError } from '../../foundation/errors.ts';
import { ipRange } from '../../foundation/ip-address.ts';
import { refusal, type AssessedAttempt } from './sign-in-limits.ts';

const untrustedShare = 0.75;
const retryAfterSeconds = 1;
const retryMs = retryAfterSeconds * 1000;

/** Of whose password a check is, and for whom. */
type CheckedAttempt = Pick<AssessedAttempt, 'canonicalEmail' | 'address' | 'isTrusted'>;

export interface PasswordChecksOptions {
  readonly hasher: PasswordHasher;
  /** Of the machine's places that this process has: one of its workers has an n-th. */
  readonly share?: number;
  /** Off for load tests, from one email and one client IP: only all places together are limited then. */
  readonly isFair: boolean;
}

export class PasswordChecks {
  readonly #hasher: PasswordHasher;
  readonly #isFair: boolean;
  readonly #placesMax: number;
  readonly #byEmail = new Map<string, number>();
  readonly #byRange = new Map<string, number>();
  #inProgress = 0;
  #untrusted = 0;

  constructor({ hasher, share = 1, isFair }: PasswordChecksOptions) {
    this.#hasher = hasher;
    this.#placesMax = Math.ceil(limits.signInsUnderWayMax * share);
    this.#isFair = isFair;
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  /** Takes a place for as long as the work takes. @throws DomainError as {@link enter} */
  async run<T>(attempt: CheckedAttempt, work: () => Promise<T>): Promise<T> {
    const leave = this.enter(attempt);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * @returns what gives the place back
   * @throws DomainError `too_many_attempts` when the email has two; `overloaded` when there is no other place
   */
  enter({ canonicalEmail, address, isTrusted }: CheckedAttempt): () => void {
    const email = `${isTrusted ? 'trusted' : 'untrusted'} ${canonicalEmail}`;
    const range = ipRange(address);
    if (this.#isFair && (this.#byEmail.get(email) ?? 0) >= limits.passwordChecksPerEmailMax)
      throw refusal(retryMs, limits.passwordChecksPerEmailMax, retryMs, 'sign-ins in progress');
    this.#hasher.assertCapacity();
    const places = Math.min(this.#placesMax, this.#hasher.checksMax);
    const isRangeFull = (this.#byRange.get(range) ?? 0) >= places - this.#inProgress;
    const isShareFull = !isTrusted && this.#untrusted >= Math.max(1, Math.floor(places * untrustedShare));
    const isFull = this.#inProgress >= places || (this.#isFair && (isRangeFull || isShareFull));
    if (isFull) throw new DomainError('overloaded', { retryAfterSeconds });
    this.#add(email, range, isTrusted, 1);
    let isLeft = false;
    return () => {
      if (!isLeft) this.#add(email, range, isTrusted, -1);
      isLeft = true;
    };
  }

  #add(email: string, range: string, isTrusted: boolean, by: 1 | -1): void {
    this.#inProgress += by;
    if (!isTrusted) this.#untrusted += by;
    change(this.#byEmail, email, by);
    change(this.#byRange, range, by);
  }
}

/** Without entries that are zero: the keys are what strangers send. */
function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
