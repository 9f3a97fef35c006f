/** The keys and accounts whose limits an instance holds in memory. Their number is bounded. */
import { limits } from '@keyreeve/contract';
import { metersOf, type Meter } from './definition.ts';
import { Pool } from './pool.ts';

/** The limits of a key or an account by one definition. */
interface Subject {
  readonly text: string;
  readonly pools: readonly Pool[];
  /** Monotonic milliseconds. */
  usedAt: number;
}

interface KeySubject extends Subject {
  /** With the limits of its account. */
  joined?: { readonly account: Subject; readonly pools: readonly Pool[] };
}

/** A key with the limits that apply to it, as the verification has read them: canonical JSON; null: none. */
export interface LimitedKey {
  readonly id: number;
  readonly accountId: string;
  readonly limits: string | null;
  readonly accountLimits: string | null;
}

/** Above this number, limits without recent use are dropped, and no tokens are drawn for later verifications. */
const many = limits.limitedSubjectsInMemoryMax / 2;
const sweepEveryMs = 10_000;
/** Dropped tokens are lost for the limit: at most what was spent before in the validity of the tokens. */
const tokensIdleMsMax = 600_000;

export class Subjects {
  readonly #keys = new Map<number, KeySubject>();
  readonly #accounts = new Map<string, Subject>();
  #sweptAt = 0;

  /** Whether tokens may be drawn for later verifications: then most of them are dropped without a loss of tokens. */
  get hasSpace(): boolean {
    return this.#size <= many;
  }

  get #size(): number {
    return this.#keys.size + this.#accounts.size;
  }

  /** The limits of the key and its account. @param now monotonic milliseconds */
  poolsOf({ id, accountId, limits: ofKey, accountLimits }: LimitedKey, now: number): readonly Pool[] {
    const account =
      accountLimits === null ? undefined : this.#find(this.#accounts, accountId, 'account', accountLimits, now);
    if (ofKey === null) return account?.pools ?? [];
    const key: KeySubject = this.#find(this.#keys, id, 'key', ofKey, now);
    if (account === undefined) return key.pools;
    if (key.joined?.account !== account) key.joined = { account, pools: [...key.pools, ...account.pools] };
    return key.joined.pools;
  }

  /** A changed definition discards the tokens that were drawn under the earlier one. */
  #find<Id extends number | string>(
    subjects: Map<Id, Subject>,
    id: Id,
    owner: Meter['owner'],
    text: string,
    now: number,
  ): Subject {
    const known = subjects.get(id);
    if (known?.text === text) {
      known.usedAt = now;
      return known;
    }
    subjects.delete(id);
    this.#makeRoom(now);
    const pools = metersOf(owner, String(id), text).map((meter) => new Pool(meter));
    const subject = { text, pools, usedAt: now };
    subjects.set(id, subject);
    return subject;
  }

  #makeRoom(now: number): void {
    if (this.#size <= many) return;
    const isFull = this.#size >= limits.limitedSubjectsInMemoryMax;
    if (!isFull && now < this.#sweptAt + sweepEveryMs) return;
    this.#sweptAt = now;
    const unusedSince = now - (isFull ? 0 : sweepEveryMs);
    for (const subjects of [this.#keys, this.#accounts] as Map<unknown, Subject>[])
      for (const [id, { pools, usedAt }] of subjects) {
        if (usedAt > unusedSince || pools.some(({ waiting }) => waiting > 0)) continue;
        if (usedAt <= now - tokensIdleMsMax || pools.every((pool) => pool.tokens(now) === 0)) subjects.delete(id);
      }
  }
}
