/** The password hashes of an import: accepts them, wraps fast ones, and states what their work reveals. */
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { ForeignHashError } from '../../foundation/crypto/foreign-hash.ts';
import { workBeyondBound } from '../../foundation/crypto/imported-work.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { Db } from '../../foundation/database/db.ts';
import { findImportedRecipes } from '../accounts/imported-hash-store.ts';
import { LineRejectedError } from './run-import.ts';

export interface PasswordHashOptions {
  /** Accepts fast hashes, such as SHA-256 without rounds. */
  readonly acceptsFast?: boolean;
  /** Accepts fast hashes, and wraps them in Argon2id. */
  readonly wrapsFast?: boolean;
  /** The pepper that Devise appended to each password before bcrypt. */
  readonly bcryptSuffix?: string | undefined;
}

/** A hash that is accepted, and its text if it must be wrapped before it is written. */
export interface AcceptedHash {
  readonly stored: string;
  readonly unwrapped?: string;
}

export class PasswordHashes {
  readonly #hasher: PasswordHasher;
  readonly #options: PasswordHashOptions;
  /** The recipes of the file. */
  readonly #recipes = new Set<string>();
  #wrapped = 0;
  #wrapMs = 0;

  constructor(hasher: PasswordHasher, options: PasswordHashOptions) {
    this.#hasher = hasher;
    this.#options = options;
  }

  /** @throws LineRejectedError */
  accept(foreign: string): AcceptedHash {
    const { acceptsFast = false, wrapsFast = false, bcryptSuffix } = this.#options;
    try {
      const stored = this.#hasher.adopt(foreign, { acceptsFast: acceptsFast || wrapsFast, bcryptSuffix });
      const isWrapped = wrapsFast && this.#hasher.isFast(stored);
      if (!isWrapped) this.#note(stored);
      return isWrapped ? { stored, unwrapped: foreign } : { stored };
    } catch (error) {
      if (!(error instanceof ForeignHashError)) throw error;
      throw new LineRejectedError(`passwordHash can’t be used: ${error.message}`);
    }
  }

  /** Wraps hashes, as many at once as there are processors for. @returns stored forms, in order */
  async wrap(unwrapped: readonly string[]): Promise<string[]> {
    const results: string[] = [];
    const open = [...unwrapped.entries()];
    const startedMs = monotonicMs();
    const wrapNext = async (): Promise<void> => {
      for (let next = open.pop(); next; next = open.pop()) {
        const [index, text] = next;
        const wrapped = await this.#hasher.adoptWrapped(text);
        results[index] = wrapped;
        this.#note(wrapped);
        this.#wrapped++;
      }
    };
    await Promise.all(Array.from({ length: this.#hasher.concurrency }, wrapNext));
    this.#wrapMs += monotonicMs() - startedMs;
    return results;
  }

  /** @returns sentences for the operator, at the end of the import */
  async notes(db: Db): Promise<string[]> {
    const found = await findImportedRecipes(db, limits.importedRecipesMax + 1);
    const recipes = new Set([...found, ...this.#recipes]);
    return [...this.#wrapNotes(), ...workNotes([...recipes])];
  }

  #wrapNotes(): string[] {
    if (this.#wrapped === 0) return [];
    const perSecond = (this.#wrapped / Math.max(1, this.#wrapMs)) * 1000;
    const seconds = (this.#wrapMs / 1000).toFixed(1);
    const hashes = this.#wrapped === 1 ? '1 fast hash' : `${this.#wrapped} fast hashes`;
    return [`Wrapped ${hashes} in Argon2id in ${seconds} s: ${perSecond.toFixed(1)} a second.`];
  }

  #note(stored: string): void {
    this.#recipes.add(stored.slice(0, stored.indexOf(',keyid=')));
  }
}

function workNotes(recipes: readonly string[]): string[] {
  const beyond = workBeyondBound(recipes);
  const notes: string[] = [];
  if (recipes.length > limits.importedRecipesMax) {
    notes.push(
      `Warning: the database has more than ${limits.importedRecipesMax} kinds of imported hashes. Response times of sign-ins ` +
        'can reveal accounts with the others.',
    );
  }
  if (beyond) {
    notes.push(
      `Warning: response times of sign-ins can reveal accounts with imported hashes of ${beyond.schemes.join(', ')}. Equal ` +
        `work for all kinds would take ${beyond.times.toFixed(1)} times the bound of one to two seconds for each sign-in.`,
    );
  }
  return notes;
}
