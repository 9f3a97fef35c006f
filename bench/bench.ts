/** What all figures of a run share: its options, and one seeded database of each kind. */
import { join } from 'node:path';
import { Databases, type Kind } from './databases.ts';
import { keyreeve, type KeyreeveOptions } from './keyreeve.ts';
import type { Running } from './processes.ts';
import type { Report } from './report.ts';
import type { Pool } from './request.ts';
import { alternate, type RoundOptions, type Rounds, type Side } from './rounds.ts';
import { keysPerAccount, signedInAccounts, type Seeded } from './seeded.ts';

export interface BenchOptions {
  /** In the shared databases. */
  readonly keys: number;
  readonly rounds: number;
  /** Of each side in a round. */
  readonly seconds: number;
  readonly kinds: readonly Kind[];
  /** Whether a verifier process answers verifications, where the version supports it. */
  readonly hasVerifier: boolean;
  /** Share of steal or foreign load above which a round is void. */
  readonly noiseMax: number;
  /** To compare with. */
  readonly commit: string | undefined;
  /** Temporary. */
  readonly folder: string;
}

/** A database that figures use one after the other. */
export class SharedDatabase {
  readonly seeded: Seeded;
  #deleted = 0;

  constructor(seeded: Seeded) {
    this.seeded = seeded;
  }

  /** @returns the pool from the first key on that still exists */
  remaining(deletions: Pool): Pool {
    if (this.#deleted >= signedInAccounts * keysPerAccount) throw new Error('not enough keys were seeded to delete');
    return { ...deletions, first: this.#deleted };
  }

  /** @param connections whose last request may have been processed without a response */
  addDeleted(requests: number, connections: number): void {
    this.#deleted += requests + connections;
  }
}

export class Bench implements AsyncDisposable {
  readonly options: BenchOptions;
  readonly #databases = new Map<Kind, Promise<Databases>>();
  readonly #shared = new Map<Kind, Promise<SharedDatabase>>();

  constructor(options: BenchOptions) {
    this.options = options;
  }

  databases(kind: Kind): Promise<Databases> {
    const databases = this.#databases.get(kind) ?? Databases.start(kind, this.options.folder);
    this.#databases.set(kind, databases);
    return databases;
  }

  shared(kind: Kind): Promise<SharedDatabase> {
    const seed = async (): Promise<SharedDatabase> =>
      new SharedDatabase(await (await this.databases(kind)).seed('shared', this.options.keys));
    const shared = this.#shared.get(kind) ?? seed();
    this.#shared.set(kind, shared);
    return shared;
  }

  /** The measured server, with a verifier if the options want one. */
  keyreeve(seeded: Seeded, options: KeyreeveOptions = {}): Promise<Running> {
    return keyreeve(seeded, { hasVerifier: this.options.hasVerifier, ...options });
  }

  async compare(report: Report, sides: readonly Side[], options: Partial<RoundOptions> = {}): Promise<Rounds> {
    const { rounds, noiseMax } = this.options;
    const found = await alternate(sides, { rounds, noiseMax, ...options });
    report.note(found);
    return found;
  }

  /** The path of a file that exists until the end of the run. */
  file(name: string): string {
    return join(this.options.folder, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const databases of this.#databases.values()) await (await databases)[Symbol.asyncDispose]();
  }
}
