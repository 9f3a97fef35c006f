/** Changes the scope catalogue, issuers and programs over HTTP, as an administrator, through any instance of a cluster. */
import { AccountSession } from '../../revocation-check/account-session.ts';
import type {
  CanaryAccount,
  CatalogueChanges,
  IssuerChanges,
  ProgramChanges,
} from '../../revocation-check/canaries.ts';
import { Instance, type HttpRequest } from '../../revocation-check/instance.ts';
import { pick } from '../../revocation-check/prober.ts';
import { DomainError } from '../../src/foundation/errors.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

export class HttpChanges implements Disposable {
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

  readonly catalogue: CatalogueChanges = {
    setEntitlements: async (accountId, entitlements) =>
      void (await this.#send('PUT', `accounts/${accountId}/entitlements`, { entitlements })),
    setScope: async (name, entitled) =>
      void (await this.#send('PUT', `scopes/${encodeURIComponent(name)}`, { description: '', entitled })),
    deleteScope: async (name) => void (await this.#send('DELETE', `scopes/${encodeURIComponent(name)}`)),
  };

  readonly issuers: IssuerChanges = {
    add: async (issuer) => (JSON.parse((await this.#send('POST', 'issuers', issuer)) ?? '') as { id: number }).id,
    change: async (id, change) => void (await this.#send('PATCH', `issuers/${id}`, change)),
    remove: async (id) => void (await this.#send('DELETE', `issuers/${id}`)),
  };

  readonly programs: ProgramChanges = {
    add: async (id) => void (await this.#send('POST', 'programs', { id, name: id })),
    remove: async (id) => (await this.#send('DELETE', `programs/${id}?keys=delete`)) !== undefined,
  };

  /** @throws DomainError */
  async refreshIssuer(id: number): Promise<void> {
    await this.#send('POST', `issuers/${id}/refresh`);
  }

  [Symbol.dispose](): void {
    for (const instance of this.#instances) instance.close();
  }

  /** @returns the body of the response; undefined if there is no such object @throws DomainError `unavailable`: the outcome is unknown */
  async #send(method: HttpRequest['method'], path: string, body?: object): Promise<string | undefined> {
    const instance = pick(this.#instances);
    const session = this.#session;
    await session.ensureSignedIn(instance);
    const response = await session.send(instance, method, `/admin/${path}`, body);
    if (response?.status === 200 || response?.status === 201) return response.text;
    if (response?.status === 404) return undefined;
    // The sign-in is not recent any more.
    if (response?.status === 403) this.#session = new AccountSession(this.#administrator);
    throw new DomainError('unavailable', { detail: `${path}: ${response?.status} ${response?.text}` });
  }
}
