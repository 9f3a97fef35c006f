/**
 * The key of the audit chain derives from the root key, which is in the database. So the database is opened before the key is
 * available, and gets it later.
 */
import type { AuditKey } from './db.ts';

export class LateAuditKey implements AuditKey {
  #key: AuditKey | undefined;

  /** Call it before the first transaction that records an audit event. */
  use(key: AuditKey): void {
    this.#key = key;
  }

  get rootKeyVersion(): number {
    return this.#opened.rootKeyVersion ?? 1;
  }

  /** @throws Error before {@link use}: an event is recorded with the right key or not at all */
  mac(text: string): Uint8Array {
    return this.#opened.mac(text);
  }

  /** @throws Error before {@link use} */
  reveal(): Uint8Array {
    return this.#opened.reveal();
  }

  get #opened(): AuditKey {
    if (!this.#key) throw new Error('the keys of the installation have not been opened');
    return this.#key;
  }
}
