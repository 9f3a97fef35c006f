/** Whose keys a page shows: those of the account, or those of a service account that the account manages. */
import { call, type RequestOf, type ResponseOf } from '../../api.ts';
import type { ListPage } from '../../list.ts';
import { text } from '../../text/text.ts';
import { root } from '../../root.ts';

export type KeyQuery = NonNullable<RequestOf<'GET /auth/api-keys'>['query']>;
export type NewKey = RequestOf<'POST /auth/api-keys'>['body'];
export type KeyChange = RequestOf<'PATCH /auth/api-keys/:id'>['body'];
export type Rotation = NonNullable<RequestOf<'POST /auth/api-keys/:id/rotate'>['body']>;
export type Usage = ResponseOf<'GET /auth/api-keys/:id/usage'>;
export type KeyDetails = ResponseOf<'GET /auth/api-keys/:id'>;
export type Trust = NonNullable<KeyDetails['trust']>;
export type KeyTokens = ResponseOf<'GET /auth/api-keys/:id/tokens'>;
export type NewTrust = NonNullable<RequestOf<'POST /auth/api-keys/public'>['body']['trust']>;
type CreatedWithTrust = ResponseOf<'POST /auth/api-keys/public'>;
/** A row of the list, with `view=full`. */
export type ListedKey = Extract<ResponseOf<'GET /auth/api-keys'>['apiKeys'][number], { scopes: unknown }>;

/** The requests for one key. Administrators have only these for the keys of other accounts. */
export interface KeySource {
  /** The console's page with the list of these keys. */
  readonly listPath: string;
  /** The label of the link to it. A function, because the texts load later. */
  readonly listLabel: () => string;
  /** The console's page of one key. */
  readonly keyPath: (id: number) => string;
  readonly get: (id: number, signal?: AbortSignal) => Promise<KeyDetails>;
  readonly change: (id: number, body: KeyChange) => Promise<KeyDetails>;
  readonly remove: (id: number) => Promise<unknown>;
  /** The last identity tokens of a key with a trust. */
  readonly tokens: (id: number, signal: AbortSignal) => Promise<KeyTokens>;
  readonly usage: (id: number, step: 'hour' | 'day', from: Date, signal?: AbortSignal) => Promise<Usage>;
}

/** The requests for the keys of one account. */
export interface KeyOwner extends KeySource {
  /** Whether it is the account of the session. */
  readonly isOwn: boolean;
  readonly list: (query: KeyQuery, signal: AbortSignal) => Promise<ListPage<ListedKey>>;
  readonly create: (body: NewKey) => Promise<ResponseOf<'POST /auth/api-keys'>>;
  readonly createWithTrust: (body: NewKey, trust: NewTrust) => Promise<CreatedWithTrust>;
  readonly rotate: (id: number, body: Rotation) => Promise<ResponseOf<'POST /auth/api-keys/:id/rotate'>>;
  readonly endPrevious: (id: number) => Promise<unknown>;
}

export const isOwner = (source: KeySource): source is KeyOwner => 'rotate' in source;

/** @param accountId of a service account; by default, the account of the session */
export function keysOf(accountId?: string): KeyOwner {
  // The routes of service accounts have the bodies and responses of the account's own (contract: service-account-keys.ts).
  const base = (
    accountId === undefined ? '/auth' : `/auth/service-accounts/${encodeURIComponent(accountId)}`
  ) as '/auth';
  const listPath = accountId === undefined ? `${root}/keys` : `${root}/service-accounts/${accountId}`;
  const keysPath = accountId === undefined ? listPath : `${listPath}/keys`;
  return {
    isOwn: accountId === undefined,
    listPath,
    listLabel: () => text.keys.all,
    keyPath: (id) => `${keysPath}/${id}`,
    list: async (query, signal) => {
      const page = await call(`GET ${base}/api-keys`, { query: { ...query, view: 'full' }, signal });
      return { items: page.apiKeys as ListedKey[], nextCursor: page.nextCursor ?? null, total: page.total };
    },
    create: (body) => call(`POST ${base}/api-keys`, { body }),
    createWithTrust: (body, trust) => call(`POST ${base}/api-keys/public`, { body: { ...body, trust } }),
    get: (id, signal) => call(`GET ${base}/api-keys/:id`, { params: { id }, ...(signal && { signal }) }),
    change: (id, body) => call(`PATCH ${base}/api-keys/:id`, { params: { id }, body }),
    rotate: (id, body) => call(`POST ${base}/api-keys/:id/rotate`, { params: { id }, body }),
    endPrevious: (id) => call(`DELETE ${base}/api-keys/:id/previous`, { params: { id } }),
    remove: (id) => call(`DELETE ${base}/api-keys/:id`, { params: { id } }),
    tokens: (id, signal) => call(`GET ${base}/api-keys/:id/tokens`, { params: { id }, signal }),
    usage: (id, step, from, signal) => {
      const query = { step, from: from.toISOString() };
      return call(`GET ${base}/api-keys/:id/usage`, { params: { id }, query, ...(signal && { signal }) });
    },
  };
}
