/**
 * Rate limits of requests without a credential that send mail or cost a hash. They are counted per email address, with
 * or without an account, per address range and in total. So no client can flood a mailbox, cause unlimited work
 * (ASVS 5.0 2.4.1) or ruin the reputation of the service's mail. All counts decay by time alone. A rejected request has
 * no effect and is not counted. Numbers: `limits`.
 */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { ipRange } from '../../foundation/ip-address.ts';
import { rangesOf, withoutTag, type IpRangeLimit, type SignInAttempt, type SignInLimits } from './sign-in-limits.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket, type Decay } from './store.ts';

export interface RequestLimitsOptions extends Core {
  readonly bucketHash: KeyedHash;
  /** The same as for sign-ins. */
  readonly ipRangeLimits: readonly IpRangeLimit[];
  readonly signInLimits: Pick<SignInLimits, 'hasSignedInRecently'>;
  /** Off only in measurements and race tests, which exceed the limits. */
  readonly enabled?: boolean;
}

interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  /** In this time `max` requests are allowed, also all at once. An hour by default. */
  readonly windowSeconds?: number;
  /** Whether the count falls by one at a time instead of starting again when the window is over. */
  readonly isLeaking?: boolean;
  /** Its name in the response; `mail` by default. */
  readonly policy?: string;
}

/** Per hour. */
const ownChangesMax = {
  language: limits.languageChangesPerHourMax,
  password: limits.passwordChangesPerHourMax,
  passkey: limits.passkeyChangesPerHourMax,
} as const;

export class RequestLimits {
  readonly #options: RequestLimitsOptions;

  constructor(options: RequestLimitsOptions) {
    this.#options = options;
  }

  /** Counts a request that sends mail to an email address of the client's choice. @throws DomainError `too_many_requests` */
  async countSignUp({ canonicalEmail, clientIp }: SignInAttempt): Promise<void> {
    const max = limits.signUpsPerEmailMax;
    await this.#count([...this.#ofEmail('sign-up', canonicalEmail, max), ...this.#ofRange(clientIp), this.#ofAll()]);
  }

  /**
   * Counts a request for a password reset. Address ranges from which the email signed in recently have a separate count,
   * so that another client cannot use up the owner's allowance.
   * @throws DomainError `too_many_requests`
   */
  async countReset(attempt: SignInAttempt): Promise<void> {
    const { canonicalEmail, clientIp } = attempt;
    const max = limits.resetsPerEmailMax;
    if (await this.#options.signInLimits.hasSignedInRecently(attempt)) {
      await this.#count([{ bucket: this.#bucket('reset known', canonicalEmail, ipRange(clientIp)), max }]);
      return;
    }
    await this.#count([...this.#ofEmail('reset', canonicalEmail, max), ...this.#ofRange(clientIp), this.#ofAll()]);
  }

  /**
   * Counts a password that is sent with a valid one-time code: only the holder of the code can use this allowance up.
   * @throws DomainError `too_many_requests`
   */
  async countCodeTry(codeHash: Buffer): Promise<void> {
    await this.#count([{ bucket: this.#bucket('code', codeHash.toString('hex')), max: limits.codeTriesMax }]);
  }

  /** Counts an export of an account's own data. @throws DomainError `too_many_requests` */
  countExport = (accountId: string): Promise<void> =>
    this.#count([
      { bucket: this.#bucket('export', accountId), max: limits.accountExportsPerHourMax, policy: 'account exports' },
    ]);

  /** Counts a test mail of an administrator. @throws DomainError `too_many_requests` */
  countTestMail = (accountId: string): Promise<void> =>
    this.#count([
      { bucket: this.#bucket('test mail', accountId), max: limits.testMailsPerHourMax, policy: 'test mails' },
    ]);

  /** Counts a change of an account to itself. @throws DomainError `too_many_requests` */
  async countOwnChange(kind: keyof typeof ownChangesMax, accountId: string): Promise<void> {
    const bucket = this.#bucket(kind, accountId);
    await this.#count([{ bucket, max: ownChangesMax[kind], policy: `${kind} changes` }]);
  }

  /** Counts a mail that reports an existing account. @returns whether it may be sent */
  async maySendAccountExistsTx(tx: Transaction, canonicalEmail: string): Promise<boolean> {
    const bucket = this.#bucket('account exists', canonicalEmail);
    const { count } = await incrementTx(tx, bucket, this.#options.clock.now(), { windowMs: dayMs });
    return count <= limits.accountExistsMailsMax;
  }

  async #count(counters: readonly Counter[]): Promise<void> {
    const { db, clock, enabled = true } = this.#options;
    if (!enabled) return;
    const now = clock.now();
    // First by reads: a flood of requests that are rejected anyway must not occupy the writer.
    const rows = await readBuckets(
      db,
      counters.map(({ bucket }) => bucket),
    );
    for (const [index, counter] of counters.entries())
      assertBelow(predictIncrement(rows[index], now, decayOf(counter)), counter, now);
    await db.transaction(async (tx) => {
      await allInOrder(
        counters.map(async (counter) =>
          assertBelow(await incrementTx(tx, counter.bucket, now, decayOf(counter)), counter, now),
        ),
      );
    });
  }

  #ofEmail(kind: string, canonicalEmail: string, max: number): Counter[] {
    return [...new Set([canonicalEmail, withoutTag(canonicalEmail)])].map((email) => ({
      bucket: this.#bucket(`${kind} email`, email),
      max,
      isLeaking: true,
    }));
  }

  #ofRange(clientIp: string): Counter[] {
    const { range, network, configured } = rangesOf(clientIp, this.#options.ipRangeLimits);
    return [
      { bucket: this.#bucket('mail address', range), max: configured?.failuresMax ?? limits.mailRequestsPerAddressMax },
      ...(network ? [{ bucket: this.#bucket('mail network', network), max: limits.mailRequestsPerNetworkMax }] : []),
    ];
  }

  /** Last in the list, so that a request that another counter rejects is not counted here. */
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
