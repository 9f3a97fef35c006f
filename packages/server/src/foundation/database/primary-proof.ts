/**
 * Whether a PostgreSQL server is proven to be the newest primary. An orchestrator can promote a standby while the earlier primary
 * still answers reads, on an unchanged timeline. See docs/decisions/02-databases.md.
 *
 * - A proof has a time at which no other server had been promoted, and holds for `validMs` from that time.
 * - A server of a newer timeline removes no rights before each proof of an earlier one has ended: each process waits for
 *   `settleMs` after its first connection to that timeline.
 *
 * So a read that ends while a proof holds has every removal of rights that was answered before. Times are milliseconds of the
 * monotonic clock of this process. The clocks of processes may differ in their rate, by less than `settleMs / validMs`.
 */

import type { UnfencedTimes } from './database-waits.ts';

/** A server, as a connection to it has read it when it was opened. */
export interface ServerIdentity {
  /** The system identifier, which a primary and its standbys have in common. */
  readonly system: string;
  /** Each promotion begins a new one, with a higher number. */
  readonly timeline: number;
  /** The IP address and port at the server, which differ from those of the client behind a proxy. */
  readonly address: string;
}

export interface PrimaryProofOptions extends UnfencedTimes {
  readonly monotonicMs: () => number;
}

/** A read from a server without a proof. */
export class UnprovenServerError extends Error {}

export class PrimaryProof {
  readonly #options: PrimaryProofOptions;
  /** Of the newest timeline that this process has met. */
  #newest: { readonly server: ServerIdentity; readonly metMs: number; isSettled: boolean } | undefined;
  #proof: { readonly server: ServerIdentity; readonly atMs: number } | undefined;
  /** When servers were standbys, by address. */
  readonly #standbys = new Map<string, { readonly system: string; readonly atMs: number }>();
  /** Why the last attempt to prove it failed. Undefined after a success. */
  problem: string | undefined;
  /** Reads whose result was refused. */
  refusedReads = 0;

  constructor(options: PrimaryProofOptions) {
    this.#options = options;
  }

  get validMs(): number {
    return this.#options.validMs;
  }

  /** Milliseconds since the time of the last proof; undefined without one. */
  get ageMs(): number | undefined {
    return this.#proof && this.#options.monotonicMs() - this.#proof.atMs;
  }

  /** Call it for each new connection to a primary. @throws Error if the server is known to be an earlier primary */
  meet(server: ServerIdentity): void {
    const newest = this.#newest?.server;
    if (newest && newest.system !== server.system)
      throw new Error('the PostgreSQL server belongs to another cluster than before; restart Keyreeve to use it');
    if (newest && server.timeline < newest.timeline)
      throw new Error(
        `the PostgreSQL server is an earlier primary: its timeline is ${server.timeline}, and that of the newest is ${newest.timeline}`,
      );
    if (newest?.timeline === server.timeline) return;
    this.#newest = { server, metMs: this.#options.monotonicMs(), isSettled: false };
  }

  /** The server is promoted later than at `atMs`, and is then the newest primary. */
  meetStandby({ system, address }: Omit<ServerIdentity, 'timeline'>, atMs: number): void {
    this.#standbys.set(address, { system, atMs });
  }

  /** At `atMs`, no other server had been promoted. */
  prove(server: ServerIdentity, atMs: number): void {
    this.problem = undefined;
    // A late proof of an earlier primary says less.
    if (!this.#proof || server.timeline >= this.#proof.server.timeline) this.#proof = { server, atMs };
  }

  /** Whether another server is known to have been promoted after this one. */
  isEarlier({ timeline }: ServerIdentity): boolean {
    return this.#newest !== undefined && timeline < this.#newest.server.timeline;
  }

  /** Call it after each read. @throws UnprovenServerError */
  assertProven(server: ServerIdentity): void {
    if (!this.isEarlier(server) && this.#isProven(server)) return;
    this.refusedReads++;
    throw new UnprovenServerError(
      `the PostgreSQL server is not proven to be the newest primary${this.problem === undefined ? '' : `: ${this.problem}`}`,
    );
  }

  /** Milliseconds until no proof of an earlier primary holds in any process. */
  get unsettledMs(): number {
    if (!this.#newest) return this.#options.settleMs;
    if (this.#newest.isSettled) return 0;
    const leftMs = this.#newest.metMs + this.#options.settleMs - this.#options.monotonicMs();
    this.#newest.isSettled = leftMs <= 0;
    return Math.max(0, leftMs);
  }

  isSettled({ timeline }: ServerIdentity): boolean {
    return timeline === this.#newest?.server.timeline && this.unsettledMs === 0;
  }

  /** Another process has waited. */
  settle({ timeline }: ServerIdentity): void {
    if (timeline === this.#newest?.server.timeline) this.#newest.isSettled = true;
  }

  #isProven(server: ServerIdentity): boolean {
    const now = this.#options.monotonicMs();
    const holds = (atMs: number): boolean => now - atMs <= this.#options.validMs;
    const proof = this.#proof;
    // The proof of an earlier primary also covers the server that has replaced it: until it ends, no server of a newer timeline
    // removes rights.
    if (proof && holds(proof.atMs) && (isSame(proof.server, server) || proof.server.timeline < server.timeline))
      return true;
    const standby = this.#standbys.get(server.address);
    return standby?.system === server.system && holds(standby.atMs);
  }
}

/** A server that was restarted is the same, because it keeps what it has acknowledged. */
const isSame = (a: ServerIdentity, b: ServerIdentity): boolean =>
  a.timeline === b.timeline && a.address === b.address && a.system === b.system;
