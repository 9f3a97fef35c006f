/** The keys and accounts whose limits an instance holds in memory. Their number is bounded. */
import { limits } from '@keyreeve/contract';
import { metersOf } from './definition.ts';
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

/** Above this number, limits without recent use are dropped, and only busy limits draw tokens for later verifications. */
const sweepAbove = limits.limitedSubjectsInMemoryMax / 2;
const sweepEveryMs = 10_000;
/** Dropped tokens are lost for the limit: at most as many as were spent before in `tokensMs`. */
const tokensIdleMsMax = 30_000;
/** When all places are taken, those that hold tokens are dropped sooner, unless this part of the places becomes free. */
const freePart = 4;
const tokensIdleMsWhenFull = 1_000;

export class Subjects {
  readonly #keys = new Map<number, KeySubject>();
  readonly #accounts = new Map<string, Subject>();
  #sweptAt = 0;

  /**
   * Whether all limits may draw tokens for later verifications: those without tokens are dropped without a loss.
   * @param now monotonic milliseconds
   */
  hasSpace(now: number): boolean {
    this.#makeRoom(now);
    return this.size <= sweepAbove;
  }

  /** Keys and accounts. */
  get size(): number {
    return this.#keys.size + this.#accounts.size;
  }

  /** The limits of the key and its account. @param now monotonic milliseconds */
  poolsOf({ id, accountId, limits: ofKey, accountLimits }: LimitedKey, now: number): readonly Pool[] {
    const account = accountLimits === null ? undefined : this.#find(this.#accounts, accountId, accountLimits, now);
    if (ofKey === null) return account?.pools ?? [];
    const key: KeySubject = this.#find(this.#keys, id, ofKey, now);
    if (account === undefined) return key.pools;
    if (key.joined?.account !== account) key.joined = { account, pools: [...key.pools, ...account.pools] };
    return key.joined.pools;
  }

  /** A changed definition discards the tokens that were drawn under the earlier one. */
  #find<Id extends number | string>(subjects: Map<Id, Subject>, id: Id, text: string, now: number): Subject {
    const known = subjects.get(id);
    if (known?.text === text) {
      known.usedAt = now;
      return known;
    }
    subjects.delete(id);
    this.#makeRoom(now);
    const owner = typeof id === 'number' ? 'key' : 'account';
    const pools = metersOf(owner, String(id), text).map((meter) => new Pool(meter));
    const subject = { text, pools, usedAt: now };
    subjects.set(id, subject);
    return subject;
  }

  #makeRoom(now: number): void {
    if (this.size <= sweepAbove) return;
    const isFull = this.size >= limits.limitedSubjectsInMemoryMax;
    if (!isFull && now < this.#sweptAt + sweepEveryMs) return;
    this.#sweptAt = now;
    this.#drop(now, isFull ? 0 : sweepEveryMs, tokensIdleMsMax);
    const isStillFull = this.size > limits.limitedSubjectsInMemoryMax * (1 - 1 / freePart);
    if (isFull && isStillFull) this.#drop(now, 0, tokensIdleMsWhenFull);
  }

  /** Drops what has not been used for these times, without and with tokens, unless verifications wait for it. */
  #drop(now: number, idleMs: number, tokensIdleMs: number): void {
    for (const subjects of [this.#keys, this.#accounts] as Map<unknown, Subject>[])
      for (const [id, { pools, usedAt }] of subjects) {
        if (usedAt > now - idleMs || pools.some(({ waiting }) => waiting > 0)) continue;
        if (usedAt <= now - tokensIdleMs || pools.every((pool) => pool.tokens(now) === 0)) subjects.delete(id);
      }
  }
}
