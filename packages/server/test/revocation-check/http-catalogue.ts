/** Changes the scope catalogue over HTTP, as an administrator, through any instance of a cluster. */
import { AccountSession } from '../../revocation-check/account-session.ts';
import type { CanaryAccount, CatalogueChanges } from '../../revocation-check/canaries.ts';
import { Instance, type HttpRequest } from '../../revocation-check/instance.ts';
import { pick } from '../../revocation-check/prober.ts';
import { DomainError } from '../../src/foundation/errors.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

export class HttpCatalogue implements CatalogueChanges, Disposable {
  readonly #administrator: CanaryAccount;
  readonly #instances: Instance[] = [];
  #session: AccountSession;

  constructor(administrator: CanaryAccount) {
    this.#administrator = administrator;
    this.#session = new AccountSession(administrator);
  }

  addInstance(url: string): void {
    this.#instances.push(new Instance(url, programMsMax));
  }

  readonly setEntitlements: CatalogueChanges['setEntitlements'] = (accountId, entitlements) =>
    this.#send('PUT', `accounts/${accountId}/entitlements`, { entitlements });

  readonly setScope: CatalogueChanges['setScope'] = (name, entitled) =>
    this.#send('PUT', `scopes/${encodeURIComponent(name)}`, { description: '', entitled });

  readonly deleteScope: CatalogueChanges['deleteScope'] = (name) =>
    this.#send('DELETE', `scopes/${encodeURIComponent(name)}`);

  [Symbol.dispose](): void {
    for (const instance of this.#instances) instance.close();
  }

  /** @throws DomainError `unavailable`: the outcome is unknown */
  async #send(method: HttpRequest['method'], path: string, body?: object): Promise<void> {
    const instance = pick(this.#instances);
    const session = this.#session;
    await session.ensureSignedIn(instance);
    const response = await session.send(instance, method, `/admin/${path}`, body);
    if (response?.status === 200) return;
    // The sign-in is not recent any more.
    if (response?.status === 403) this.#session = new AccountSession(this.#administrator);
    throw new DomainError('unavailable', { detail: `${path}: ${response?.status} ${response?.text}` });
  }
}
