/**
 * How often strangers may ask for what sends mail or costs a hash: counted by email, whether or not it has an account,
 * by address range and over all, so that nobody can flood a mailbox, make the service work for nothing (ASVS 5.0 2.4.1)
 * or have its mail taken for spam.
 * Numbers: `limits`. What is asked for is refused before anything is done, and then nothing is counted.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../clock.ts';
import type { KeyedHash } from '../crypto/keyed-hash.ts';
import type { Db, Transaction } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import { addressRange, isWithin } from './address.ts';
import type { AddressLimit, LoginAttempt, LoginThrottle } from './login-throttle.ts';
import { foresee, raise, type Bucket } from './store.ts';

export interface RequestThrottleOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  /** More for networks that the operator trusts, as for sign-ins. */
  readonly addressLimits: readonly AddressLimit[];
  /** Knows from where an email signed in lately. */
  readonly logins: LoginThrottle;
  /** Off for load tests. */
  readonly enabled: boolean;
}

interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  /** An hour where nothing else is said. */
  readonly windowSeconds?: number;
}

const dayMs = 86_400_000;

export class RequestThrottle {
  readonly #options: RequestThrottleOptions;

  constructor(options: RequestThrottleOptions) {
    this.#options = options;
  }

  /** For what sends mail to an address that somebody names. @throws DomainError `too_many_requests` */
  async countSignUp({ emailKey, address }: LoginAttempt): Promise<void> {
    const max = limits.signUpsPerEmailMax;
    await this.#count([...this.#ofEmail('sign-up', emailKey, max), ...this.#ofAddress(address), this.#ofAll()]);
  }

  /**
   * From an address range that the email signed in from lately it is counted apart: a stranger can't use up what the
   * owner may ask for.
   * @throws DomainError `too_many_requests`
   */
  async countReset(attempt: LoginAttempt): Promise<void> {
    const { emailKey, address } = attempt;
    const max = limits.resetsPerEmailMax;
    if (await this.#options.logins.signedInLately(attempt)) {
      await this.#count([{ bucket: this.#bucket('reset known', emailKey, addressRange(address)), max }]);
      return;
    }
    await this.#count([...this.#ofEmail('reset', emailKey, max), ...this.#ofAddress(address), this.#ofAll()]);
  }

  /** For a code that is good, while what comes with it is not. @throws DomainError `too_many_requests` */
  async countCodeTry(codeHash: Buffer): Promise<void> {
    await this.#count([{ bucket: this.#bucket('code', codeHash.toString('hex')), max: limits.codeTriesMax }]);
  }

  /** As part of something larger. @returns whether the address may be told once more that it has an account */
  async mayTellIn(tx: Transaction, emailKey: string): Promise<boolean> {
    const { clock } = this.#options;
    const { count } = await raise(tx, this.#bucket('account exists', emailKey), clock.now(), dayMs);
    return count <= limits.accountExistsMailsMax;
  }

  async #count(counters: readonly Counter[]): Promise<void> {
    const { db, clock, enabled } = this.#options;
    if (!enabled) return;
    const now = clock.now();
    // First by plain reads: a flood of what is refused anyway would keep the only writer from everybody else.
    for (const counter of counters)
      assertBelow(await foresee(db, counter.bucket, now, windowMs(counter)), counter, now);
    await db.transaction(async (tx) => {
      for (const counter of counters)
        assertBelow(await raise(tx, counter.bucket, now, windowMs(counter)), counter, now);
    });
  }

  /** The email, and without its tag, because aliases often are one mailbox. */
  #ofEmail(kind: string, emailKey: string, max: number): Counter[] {
    const untagged = emailKey.replace(/\+[^@]*@/, '@');
    return [
      { bucket: this.#bucket(`${kind} email`, emailKey), max },
      ...(untagged === emailKey ? [] : [{ bucket: this.#bucket(`${kind} email`, untagged), max }]),
    ];
  }

  #ofAddress(address: string): Counter[] {
    const range = addressRange(address);
    const network = addressRange(address, 48);
    const raised = this.#options.addressLimits.find(({ cidr }) => isWithin(address, cidr));
    return [
      { bucket: this.#bucket('mail address', range), max: raised?.failuresMax ?? limits.mailRequestsPerAddressMax },
      ...(network === range || raised
        ? []
        : [{ bucket: this.#bucket('mail network', network), max: limits.mailRequestsPerNetworkMax }]),
    ];
  }

  /** Last of all, so that what another count refuses doesn't use it up. */
  #ofAll(): Counter {
    const { mailRequestsGlobalMax: max, mailRequestsGlobalWindowSeconds: windowSeconds } = limits;
    return { bucket: this.#bucket('mail global'), max, windowSeconds };
  }

  #bucket(...parts: readonly string[]): Buffer {
    return this.#options.bucketHash.stored(JSON.stringify(parts));
  }
}

const secondsOf = ({ windowSeconds = limits.mailRequestWindowSeconds }: Counter): number => windowSeconds;
const windowMs = (counter: Counter): number => secondsOf(counter) * 1000;

function assertBelow({ count, windowStartedAt }: Bucket, counter: Counter, now: number): void {
  if (count <= counter.max) return;
  throw new DomainError('too_many_requests', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs(counter) - now) / 1000)),
    rate: { policy: 'mail', quota: counter.max, windowSeconds: secondsOf(counter) },
  });
}
