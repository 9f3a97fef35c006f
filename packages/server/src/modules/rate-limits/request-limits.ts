/**
 * Rate limits of requests that strangers may make and that send mail or cost a hash: counted by email, whether or not it
 * has an account, by address range and in total, so that nobody can flood a mailbox, make the service work for nothing
 * (ASVS 5.0 2.4.1) or ruin the reputation of its mail. All of these counts decay by time alone.
 * Numbers: `limits`. A rejected request has no effect, and is not counted.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { ipRange, isWithin } from '../../foundation/ip-address.ts';
import type { IpRangeLimit, SignInAttempt, SignInLimits } from './sign-in-limits.ts';
import { foresee, raise, readBuckets, type Bucket, type Decay } from './store.ts';

export interface RequestLimitsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly bucketHash: KeyedHash;
  /** More for networks that the operator trusts, as for sign-ins. */
  readonly addressLimits: readonly IpRangeLimit[];
  /** Knows from where an email signed in lately. */
  readonly logins: SignInLimits;
  /** Off in measurements and race tests alone, which ask more often than any client may. */
  readonly enabled?: boolean;
}

interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  /** `max` requests are allowed at once, and as many in this time. An hour unless given. */
  readonly windowSeconds?: number;
  /** Whether the count falls by one at a time instead of starting again when the window is over. */
  readonly isLeaking?: boolean;
  /** Its name in the response; `mail` unless given. */
  readonly policy?: string;
}

const dayMs = 86_400_000;

/** In an hour. */
const ownChangesMax = {
  language: limits.languageChangesPerHourMax,
  password: limits.passwordChangesPerHourMax,
} as const;

export class RequestLimits {
  readonly #options: RequestLimitsOptions;

  constructor(options: RequestLimitsOptions) {
    this.#options = options;
  }

  /** For what sends mail to an address that somebody names. @throws DomainError `too_many_requests` */
  async countSignUp({ canonicalEmail, address }: SignInAttempt): Promise<void> {
    const max = limits.signUpsPerEmailMax;
    await this.#count([...this.#ofEmail('sign-up', canonicalEmail, max), ...this.#ofAddress(address), this.#ofAll()]);
  }

  /**
   * From an address range that the email signed in from lately it is counted apart: a stranger can't use up what the
   * owner may ask for.
   * @throws DomainError `too_many_requests`
   */
  async countReset(attempt: SignInAttempt): Promise<void> {
    const { canonicalEmail, address } = attempt;
    const max = limits.resetsPerEmailMax;
    if (await this.#options.logins.signedInLately(attempt)) {
      await this.#count([{ bucket: this.#bucket('reset known', canonicalEmail, ipRange(address)), max }]);
      return;
    }
    await this.#count([...this.#ofEmail('reset', canonicalEmail, max), ...this.#ofAddress(address), this.#ofAll()]);
  }

  /**
   * For a valid code that comes with a password: only its holder can use this allowance up.
   * @throws DomainError `too_many_requests`
   */
  async countCodeTry(codeHash: Buffer): Promise<void> {
    await this.#count([{ bucket: this.#bucket('code', codeHash.toString('hex')), max: limits.codeTriesMax }]);
  }

  /** For a change that the account makes to itself as often as it likes. @throws DomainError `too_many_requests` */
  async countOwnChange(kind: keyof typeof ownChangesMax, accountId: string): Promise<void> {
    const bucket = this.#bucket(kind, accountId);
    await this.#count([{ bucket, max: ownChangesMax[kind], policy: `${kind} changes` }]);
  }

  /** As part of something larger. @returns whether the address may be told once more that it has an account */
  async mayTellIn(tx: Transaction, canonicalEmail: string): Promise<boolean> {
    const { clock } = this.#options;
    const { count } = await raise(tx, this.#bucket('account exists', canonicalEmail), clock.now(), { windowMs: dayMs });
    return count <= limits.accountExistsMailsMax;
  }

  async #count(counters: readonly Counter[]): Promise<void> {
    const { db, clock, enabled = true } = this.#options;
    if (!enabled) return;
    const now = clock.now();
    // First by plain reads: a flood of requests that are rejected anyway must not occupy the only writer.
    const rows = await readBuckets(
      db,
      counters.map(({ bucket }) => bucket),
    );
    for (const [index, counter] of counters.entries())
      assertBelow(foresee(rows[index], now, decayOf(counter)), counter, now);
    await db.transaction(async (tx) => {
      for (const counter of counters) assertBelow(await raise(tx, counter.bucket, now, decayOf(counter)), counter, now);
    });
  }

  /** The email, and without its tag, because aliases often are one mailbox. */
  #ofEmail(kind: string, canonicalEmail: string, max: number): Counter[] {
    const untagged = canonicalEmail.replace(/\+[^@]*@/, '@');
    return [
      { bucket: this.#bucket(`${kind} email`, canonicalEmail), max, isLeaking: true },
      ...(untagged === canonicalEmail
        ? []
        : [{ bucket: this.#bucket(`${kind} email`, untagged), max, isLeaking: true }]),
    ];
  }

  #ofAddress(address: string): Counter[] {
    const range = ipRange(address);
    const network = ipRange(address, 48);
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
const decayOf = (counter: Counter): NonNullable<Decay> =>
  counter.isLeaking ? { leakMs: Math.ceil(windowMs(counter) / counter.max) } : { windowMs: windowMs(counter) };

/** @throws DomainError `too_many_requests` */
function assertBelow({ count, windowStartedAt }: Bucket, counter: Counter, now: number): void {
  if (count <= counter.max) return;
  const decay = decayOf(counter);
  const endsAt = windowStartedAt + ('leakMs' in decay ? decay.leakMs : decay.windowMs);
  throw new DomainError('too_many_requests', {
    retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)),
    rate: { policy: counter.policy ?? 'mail', quota: counter.max, windowSeconds: secondsOf(counter) },
  });
}
