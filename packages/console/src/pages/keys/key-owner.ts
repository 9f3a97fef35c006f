/**
 * Whose keys a page shows, what the person may do with them, and the requests for it. The console has the keys of the account and of the
 * service accounts that it manages (keys-of-account.ts); the key page in the frame has those of one service account.
 */
import type { RequestOf, ResponseOf } from '../../api-types.ts';
import type { ListPage } from '../../list.ts';

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

/** What is below a new secret. */
export interface SecretExamplesProps {
  readonly secret: string;
  readonly scopes: readonly string[];
}

/** A scope of the catalogue, or one that administrators grant. */
export type DeclaredScope = ResponseOf<'GET /auth/scopes'>['scopes'][number];

/** The scopes that a form offers. */
export interface ScopeOffer {
  /** One that the account cannot grant stays if it is a current one. */
  readonly choices: readonly DeclaredScope[];
  /** Any name is allowed, so the person types names. */
  readonly isFree: boolean;
}

export type LoadScopes = (signal: AbortSignal) => Promise<ScopeOffer>;

/** What the person may do with the keys besides reading them. The server decides. */
export interface KeyRights {
  readonly create: boolean;
  readonly rename: boolean;
  readonly scopes: boolean;
  /** Expiry, IP ranges and limits. */
  readonly limit: boolean;
  readonly disable: boolean;
  /** Also to end the secret before the last rotation. */
  readonly rotate: (key: Pick<KeyDetails, 'scopes' | 'publicKey' | 'trust'>) => boolean;
  readonly delete: boolean;
}

export const ownerRights: KeyRights = {
  create: true,
  rename: true,
  scopes: true,
  limit: true,
  disable: true,
  rotate: () => true,
  delete: true,
};

/** The requests for one key. Administrators have only these for the keys of other accounts. */
export interface KeySource {
  readonly rights: KeyRights;
  /** The view with the list of these keys. */
  readonly listPath: string;
  /** The label of the link to it. A function, because the texts load later. */
  readonly listLabel: () => string;
  /** The view of one key. */
  readonly keyPath: (id: number) => string;
  readonly get: (id: number, signal?: AbortSignal) => Promise<KeyDetails>;
  readonly change: (id: number, body: KeyChange) => Promise<KeyDetails>;
  readonly remove: (id: number) => Promise<unknown>;
  /** The last identity tokens of a key with a trust. Absent: such keys show no more than others. */
  readonly tokens?: (id: number, signal: AbortSignal) => Promise<KeyTokens>;
  readonly usage: (id: number, step: 'hour' | 'day', from: Date, signal?: AbortSignal) => Promise<Usage>;
}

/** The requests for the keys of one account. */
export interface KeyOwner extends KeySource {
  readonly scopes: LoadScopes;
  readonly list: (query: KeyQuery, signal: AbortSignal) => Promise<ListPage<ListedKey>>;
  readonly create: (body: NewKey) => Promise<ResponseOf<'POST /auth/api-keys'>>;
  /** Absent: new keys have secrets. */
  readonly createWithTrust?: (body: NewKey, trust: NewTrust) => Promise<CreatedWithTrust>;
  readonly rotate: (id: number, body: Rotation) => Promise<ResponseOf<'POST /auth/api-keys/:id/rotate'>>;
  readonly endPrevious: (id: number) => Promise<unknown>;
}

export const isOwner = (source: KeySource): source is KeyOwner => 'rotate' in source;
