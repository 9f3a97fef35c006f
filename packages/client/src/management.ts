/**
 * The management of service accounts, their keys and portal sessions, by a backend with a management key, or by a person with a
 * session.
 */
import { send, type AccountRequest, type Service } from './account-request.ts';
import type {
  CreatedPortalSession,
  KeyLimits,
  NewPortalSession,
  NewServiceAccount,
  Page,
  PageQuery,
  ServiceAccount,
  ServiceAccountChange,
  ShownLimits,
} from './account-types.ts';
import { hideSecret } from './hide-secret.ts';
import { entriesOf, Keys, queryOf, type Caller } from './keys.ts';
import type { CallOptions } from './question.ts';
import { authorizationOf, type ServiceKey } from './service-key.ts';
import { serviceUrl } from './service-url.ts';

export interface ManagementOptions extends Service {
  /** An API key with the scope `keyreeve:keys`, or a function that returns the current one. It is called for each request. */
  readonly managementKey: ServiceKey;
}

const path = 'auth/service-accounts';
const portalPath = 'auth/portal-sessions';

/** Every method throws KeyreeveError, also without a response within 30 s, and sends its request once. */
export class Management {
  readonly #caller: Caller;

  /**
   * @param from the options of a client with a management key, or a session
   * @throws TypeError for a malformed URL or key, or plain HTTP to another host than loopback
   */
  constructor(from: ManagementOptions | Caller) {
    this.#caller = 'call' in from ? from : new ManagementCaller(from);
  }

  /**
   * If the response is lost, repeat the request: `external_id_taken` means that the first one succeeded.
   * @throws KeyreeveError `name_taken`, `external_id_taken`, `service_account_limit_reached` and others
   */
  createServiceAccount(account: NewServiceAccount, options: CallOptions = {}): Promise<ServiceAccount> {
    return this.#caller.call({ ...options, method: 'POST', path, body: account });
  }

  /** @returns a page. {@link Management.listServiceAccounts} reads all of them */
  async serviceAccountPage(query: PageQuery = {}, options: CallOptions = {}): Promise<Page<ServiceAccount>> {
    const request = { ...options, method: 'GET', path: `${path}${queryOf(query)}` } as const;
    const { serviceAccounts, nextCursor } = await this.#caller.call<ServiceAccountPage>(request);
    return { entries: serviceAccounts, nextCursor };
  }

  /** All that the account of the caller manages, page by page. */
  listServiceAccounts(options: CallOptions = {}): AsyncIterable<ServiceAccount> {
    return entriesOf((cursor) => this.serviceAccountPage(cursor, options));
  }

  /** @returns that which the account of the caller has created with this external id; undefined if there is none */
  async findServiceAccount(externalId: string, options: CallOptions = {}): Promise<ServiceAccount | undefined> {
    const request = { ...options, method: 'GET', path: `${path}${queryOf({ externalId })}` } as const;
    return (await this.#caller.call<ServiceAccountPage>(request)).serviceAccounts[0];
  }

  /** @throws KeyreeveError `account_not_found` */
  getServiceAccount(id: string, options: CallOptions = {}): Promise<ServiceAccount> {
    return this.#caller.call({ ...options, method: 'GET', path: pathOf(id) });
  }

  changeServiceAccount(id: string, change: ServiceAccountChange, options: CallOptions = {}): Promise<ServiceAccount> {
    return this.#caller.call({ ...options, method: 'PATCH', path: pathOf(id), body: change });
  }

  /** Also deletes its keys: every verification that starts after the promise is fulfilled rejects them. Cannot be undone. */
  async deleteServiceAccount(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call({ ...options, method: 'DELETE', path: pathOf(id) });
  }

  /** Replaces the limits that all keys of the service account share. Needs a management key. */
  setLimits(id: string, limits: KeyLimits, options: CallOptions = {}): Promise<ShownLimits> {
    return this.#caller.call({ ...options, method: 'PUT', path: `${pathOf(id)}/limits`, body: limits });
  }

  /** @param id of the service account */
  keys(id: string): Keys {
    return new Keys(this.#caller, `${pathOf(id)}/api-keys`);
  }

  /**
   * For a person who manages the keys of a service account on the key page. Needs a management key. Redirect the frame or the browser to
   * `url` within a minute, and only for a signed-in person.
   * @throws KeyreeveError `account_not_found`, `scope_not_entitled`, `too_many_portal_sessions` and others
   */
  async createPortalSession(session: NewPortalSession, options: CallOptions = {}): Promise<CreatedPortalSession> {
    const request = { ...options, method: 'POST', path: portalPath, body: session } as const;
    return hideSecret('CreatedPortalSession', await this.#caller.call<CreatedPortalSession>(request), ({ id }) => id);
  }

  /**
   * Every request of its key page that starts after the promise is fulfilled is rejected.
   * @throws KeyreeveError `portal_session_not_found`
   */
  async endPortalSession(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call({ ...options, method: 'DELETE', path: pathOf(id, portalPath, 'portal session') });
  }
}

interface ServiceAccountPage {
  readonly serviceAccounts: readonly ServiceAccount[];
  readonly nextCursor: string | null;
}

/** Dots would lead to another path. */
function pathOf(id: string, parent = path, kind = 'service account'): string {
  if (!/^[\w-]+$/.test(id)) throw new TypeError(`id: expected the id of a ${kind}`);
  return `${parent}/${id}`;
}

class ManagementCaller implements Caller {
  readonly #service: Service;
  readonly #authorization: () => string | Promise<string>;

  constructor({ managementKey, ...service }: ManagementOptions) {
    serviceUrl(service, '');
    this.#service = service;
    this.#authorization = authorizationOf('managementKey', managementKey);
  }

  async call<T>(request: AccountRequest): Promise<T> {
    const headers = { Authorization: await this.#authorization() };
    return (await send(this.#service, { ...request, headers })) as T;
  }
}
