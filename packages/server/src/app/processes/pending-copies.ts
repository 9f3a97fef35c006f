/** The changes of unknown outcome of the main process, as a verifier knows them: it answers 503 for their ids. */
import { DomainError } from '../../foundation/errors.ts';
import type { PendingIds } from '../../modules/deletion-journal/pending-changes.ts';
import type { PendingSets, ToVerifier } from './messages.ts';

class PendingCopy<Id extends string | number> implements PendingIds<Id> {
  readonly #ids: Set<Id>;

  constructor(ids: readonly Id[]) {
    this.#ids = new Set(ids);
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  assertNone(id: Id): void {
    if (this.#ids.has(id)) throw new DomainError('unavailable', { retryAfterSeconds: 1 });
  }

  set(id: Id, isPending: boolean): void {
    if (isPending) this.#ids.add(id);
    else this.#ids.delete(id);
  }
}

export class PendingCopies {
  readonly keys: PendingCopy<number>;
  readonly accounts: PendingCopy<string>;
  readonly scopes: PendingCopy<string>;
  readonly issuers: PendingCopy<number>;

  constructor({ keys, accounts, scopes, issuers }: PendingSets) {
    this.keys = new PendingCopy(keys);
    this.accounts = new PendingCopy(accounts);
    this.scopes = new PendingCopy(scopes);
    this.issuers = new PendingCopy(issuers);
  }

  apply({ subject, id, isPending }: Extract<ToVerifier, { kind: 'pending' }>): void {
    const copy: { set: (of: never, is: boolean) => void } = this[subject];
    copy.set(id as never, isPending);
  }
}
