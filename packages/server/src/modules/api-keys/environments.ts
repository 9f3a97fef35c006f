/** Environments of API keys, such as live and test: each has a name and a prefix of its own. */
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { prefixOf } from './key-format.ts';

export interface Environment {
  readonly name: string;
  readonly prefix: string;
}

/** The configured environments. Keys without a stored environment belong to the first one. */
export class Environments {
  readonly names: readonly string[];
  /** Those that a verification accepts if it names none: the first one. Empty if none is configured. */
  readonly byDefault: readonly string[];
  /** Those that `/auth/forward` accepts. */
  readonly forwarded: readonly string[];
  readonly #prefix: string;
  /** The further environments by prefix, and their prefixes by name. */
  readonly #furtherNames: ReadonlyMap<string, string>;
  readonly #furtherPrefixes: ReadonlyMap<string, string>;

  /**
   * @param environments KEYREEVE_ENVIRONMENTS; empty if it is not set
   * @param prefix KEYREEVE_KEY_PREFIX, for new keys without environments
   * @param areAllForwarded whether `/auth/forward` accepts all of them: KEYREEVE_FORWARD_ENVIRONMENTS
   */
  constructor(environments: readonly Environment[], prefix: string, areAllForwarded = false) {
    const [first, ...further] = environments;
    this.#prefix = first?.prefix ?? prefix;
    this.#furtherNames = new Map(further.map((one) => [one.prefix, one.name]));
    this.#furtherPrefixes = new Map(further.map((one) => [one.name, one.prefix]));
    this.names = environments.map(({ name }) => name);
    this.byDefault = this.names.slice(0, 1);
    this.forwarded = areAllForwarded ? this.names : this.byDefault;
  }

  /** Undefined if none is configured. */
  get first(): string | undefined {
    return this.names[0];
  }

  /** @param stored the environment of a key; null for the first one */
  nameOf(stored: string | null): string | undefined {
    return stored ?? this.first;
  }

  /**
   * A key whose hash was given belongs to the first environment, although the prefix of its text may be that of a further one.
   * @param key text in the format of our keys
   * @param accepted environments that a verification accepts
   * @returns those of them that the prefix of the key allows
   */
  allowedBy(key: string, accepted: readonly string[]): readonly string[] {
    if (this.#furtherNames.size === 0) return accepted;
    const name = this.#furtherNames.get(prefixOf(key));
    return name === undefined ? accepted : accepted.filter((other) => other === name);
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
    const prefix = stored === null ? this.#prefix : this.#furtherPrefixes.get(stored);
    if (prefix !== undefined) return prefix;
    throw new DomainError('invalid_request', { detail: `The environment ${stored} of the key is not configured.` });
  }

  /** @throws DomainError `invalid_request` */
  assertKnown(name: string, pointer: string): void {
    if (this.names.includes(name)) return;
    const known =
      this.names.length === 0 ? 'This installation has no environments' : `Expected one of ${this.names.join(', ')}`;
    throw invalidAt(pointer, `Unknown environment. ${known}.`, { code: 'wrong_value' });
  }
}
