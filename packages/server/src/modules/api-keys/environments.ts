/** Environments of API keys, such as live and test: each has a name and a prefix of its own. */
import { DomainError } from '../../foundation/errors.ts';

export interface Environment {
  readonly name: string;
  readonly prefix: string;
}

/** The configured environments; the first one is that of all keys without a stored name. */
export class Environments {
  readonly names: readonly string[];
  /** Those that `/auth/forward` accepts. */
  readonly forwarded: readonly string[];
  readonly #environments: readonly Environment[];
  readonly #prefix: string;

  /**
   * @param environments KEYREEVE_ENVIRONMENTS; empty if it is not set
   * @param prefix KEYREEVE_KEY_PREFIX, for new keys without environments
   * @param areAllForwarded whether `/auth/forward` accepts all of them: KEYREEVE_FORWARD_ENVIRONMENTS
   */
  constructor(environments: readonly Environment[], prefix: string, areAllForwarded = false) {
    this.#environments = environments;
    this.#prefix = environments[0]?.prefix ?? prefix;
    this.names = environments.map(({ name }) => name);
    this.forwarded = areAllForwarded ? this.names : this.names.slice(0, 1);
  }

  /** The environment that a request names without choosing one; undefined if none is configured. */
  get first(): string | undefined {
    return this.names[0];
  }

  /** @param stored the environment of a key; null for the first one */
  nameOf(stored: string | null): string | undefined {
    return stored ?? this.first;
  }

  /**
   * @param name of a request for a new key; undefined for the first environment
   * @returns as stored in the key
   * @throws DomainError `invalid_request` for an unknown name
   */
  toStored(name: string | undefined): string | null {
    if (name === undefined) return null;
    this.assertKnown(name, '/environment');
    return name === this.first ? null : name;
  }

  /** The prefix of new secrets. @throws DomainError `invalid_request` if the environment is no longer configured */
  prefixOf(stored: string | null): string {
    if (stored === null) return this.#prefix;
    const found = this.#environments.find(({ name }) => name === stored);
    if (!found) throw new DomainError('invalid_request', { detail: `The environment ${stored} is not configured.` });
    return found.prefix;
  }

  /** @throws DomainError `invalid_request` */
  assertKnown(name: string, pointer: string): void {
    if (this.names.includes(name)) return;
    const known = this.names.length === 0 ? 'This installation has none' : `Expected one of ${this.names.join(', ')}`;
    throw new DomainError('invalid_request', { errors: [{ pointer, detail: `Unknown environment. ${known}.` }] });
  }
}

/** Without KEYREEVE_ENVIRONMENTS. @param prefix KEYREEVE_KEY_PREFIX */
export const withoutEnvironments = (prefix: string): Environments => new Environments([], prefix);
