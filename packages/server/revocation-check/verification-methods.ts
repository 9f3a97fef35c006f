/** All requests that verify a key, and how to read their responses. */
import { identityHeaders } from '@keyreeve/contract';
import type { ObservedResult } from './history.ts';
import type { HttpRequest, HttpResponse } from './instance.ts';
import { pick } from './random.ts';

export interface Key {
  readonly id: number;
  readonly secret: string;
  /** Valid only from an IP address that no request to `/auth/forward` has: there, a 403 shows that the key is valid. */
  readonly isElsewhere?: boolean;
  readonly asked?: {
    readonly scope: string | undefined;
    readonly address: string;
    readonly forgedAddress: string;
  };
}

export interface VerificationMethod {
  /** How the request presents the credential: for explanations, after method and path. */
  readonly how: string;
  /** The number of keys that one request can verify. */
  readonly keysMax: number;
  /** The key authenticates the request, so only callers' keys can be verified this way. */
  readonly isForCallers: boolean;
  /** Whether an accepted result shows that the key has the scope that is asked for. */
  readonly asksForScope: boolean;
  /** How the request reports a client IP: in X-Forwarded-For, in a member of the body, or not at all. */
  readonly reportsAddress: 'header' | 'member' | 'never';
  readonly request: (keys: readonly Key[], caller: Key) => HttpRequest;
  /**
   * @returns the results in the order of the keys; `caller rejected` if the service rejected the caller's own key
   * @throws if the body has another format
   */
  readonly read: (response: HttpResponse, keys: readonly Key[]) => readonly ObservedResult[] | 'caller rejected';
}

const bearer = ({ secret }: Key): Record<string, string> => ({ authorization: `Bearer ${secret}` });
/** RFC 7662 clients send the key's id as user and the key as password. */
const basic = ({ id, secret }: Key): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const apiKey = ({ secret }: Key): Record<string, string> => ({ 'x-api-key': secret });
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
/** The only key: all methods except the batch verify one key. */
const only = ([key]: readonly Key[]): Key => key as Key;

/** A larger batch would delay other requests. */
const batchMax = 8;

/** Envoy sends the client's own method and path; other proxies may send any method. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const paths = ['/auth/forward', '/auth/forward/', '/auth/forward/orders/1?x=y', '/auth/forward?scope='] as const;

type Headers = (key: Key) => Record<string, string>;

const questionOf = ({ secret, asked }: Key): object => ({
  credential: secret,
  ...(asked ? { address: asked.address } : {}),
  ...(asked?.scope === undefined ? {} : { scopes: [asked.scope] }),
});
const verify = (caller: Key, key: Key): HttpRequest => ({
  method: 'POST',
  path: '/auth/verify',
  headers: { ...bearer(caller), ...json },
  body: JSON.stringify(questionOf(key)),
});
const verifyBatch = (caller: Key, body: object): HttpRequest => ({
  method: 'POST',
  path: '/auth/verify/batch',
  headers: { ...bearer(caller), ...json },
  body: JSON.stringify(body),
});
const credentialsOf = (keys: readonly Key[]) => ({ credentials: keys.map(({ secret }) => secret) });
const introspect = (authorization: Record<string, string>, token: string): HttpRequest => ({
  method: 'POST',
  path: '/auth/introspect',
  headers: { ...authorization, ...form },
  body: `token=${token}`,
});

interface ForwardOptions {
  readonly isVaried?: boolean;
  readonly asksForScope?: boolean;
}

const byForward = (
  how: string,
  headers: Headers,
  { isVaried = false, asksForScope = false }: ForwardOptions,
): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: false,
  asksForScope,
  reportsAddress: 'header',
  request: (keys) => {
    const { asked } = only(keys);
    const path = isVaried ? pick(paths) : '/auth/forward';
    const wanted = asksForScope && asked?.scope !== undefined ? `scope=${encodeURIComponent(asked.scope)}` : '';
    return {
      method: isVaried ? pick(methods) : 'GET',
      path: wanted === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${wanted}`,
      headers: {
        ...headers(only(keys)),
        // As a proxy does: it appends its peer to what the client sent.
        ...(asked ? { 'x-forwarded-for': `${asked.forgedAddress}, ${asked.address}` } : {}),
      },
    };
  },
  read: readForward,
});

const byIntrospection = (how: string, authorization: Headers): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: false,
  asksForScope: true,
  reportsAddress: 'never',
  request: (keys, caller) => introspect(authorization(caller), only(keys).secret),
  read: ({ status, text }, keys) => {
    if (status === 401) return 'caller rejected';
    if (status !== 200) return ['unknown'];
    const { active, scope = '' } = JSON.parse(text) as { active: boolean; scope?: string };
    return [active ? resultOfScopes(scope.split(' '), only(keys)) : 'rejected'];
  },
});

/** The key under test authenticates the request, which verifies the check's own caller key: that key is always valid. */
const asCaller = (how: string, request: VerificationMethod['request']): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: true,
  asksForScope: false,
  reportsAddress: 'never',
  request,
  read: ({ status, text }) => {
    if (status === 200) return ['accepted'];
    const isRejected = status === 401 && (JSON.parse(text) as { code: string }).code === 'invalid_service_key';
    return [isRejected ? 'rejected' : 'unknown'];
  },
});

export const verificationMethods: readonly VerificationMethod[] = [
  byForward('Bearer', bearer, {}),
  byForward('X-API-Key', apiKey, { asksForScope: true }),
  byForward('either header', (key) => pick([bearer, apiKey])(key), { isVaried: true, asksForScope: true }),
  {
    how: 'credential',
    keysMax: 1,
    isForCallers: false,
    asksForScope: true,
    reportsAddress: 'member',
    request: (keys, caller) => verify(caller, only(keys)),
    read: (response, keys) => readResults(response, keys, (body) => [body as Result]),
  },
  {
    how: 'credentials',
    keysMax: batchMax,
    isForCallers: false,
    asksForScope: true,
    reportsAddress: 'never',
    request: (keys, caller) => verifyBatch(caller, credentialsOf(keys)),
    read: (response, keys) => readResults(response, keys, resultsOfBatch),
  },
  {
    how: 'questions',
    keysMax: batchMax,
    isForCallers: false,
    asksForScope: true,
    reportsAddress: 'member',
    request: (keys, caller) => verifyBatch(caller, { questions: keys.map(questionOf) }),
    read: (response, keys) => readResults(response, keys, resultsOfBatch),
  },
  byIntrospection('token, caller by Bearer', bearer),
  byIntrospection('token, caller by Basic', basic),
  asCaller('as caller', (keys, caller) => verify(only(keys), caller)),
  asCaller('as caller', (keys, caller) => verifyBatch(only(keys), credentialsOf([caller]))),
  asCaller('as caller by Bearer', (keys, caller) => introspect(bearer(only(keys)), caller.secret)),
  asCaller('as caller by Basic', (keys, caller) => introspect(basic(only(keys)), caller.secret)),
];

/** For explanations, without the secret. */
export const describeRequest = ({ how }: VerificationMethod, { method, path }: HttpRequest): string =>
  `${method} ${path} (${how})`;

const keyIdHeader = identityHeaders.keyId.toLowerCase();

function readForward(response: HttpResponse, keys: readonly Key[]): readonly ObservedResult[] {
  const { status, headers } = response;
  const { id, asked, isElsewhere } = only(keys);
  if (status === 403 && isElsewhere) return [isProblemOfPlace(response) ? 'accepted' : 'unknown'];
  if (status === 200) return [headers[keyIdHeader] === String(id) ? 'accepted' : 'wrong_key'];
  if (status === 403 && asked) return ['forbidden'];
  return [status === 401 ? 'rejected' : 'unknown'];
}

const codesOfPlace: readonly unknown[] = ['address_not_allowed', 'address_unknown', 'wrong_environment'];

/** Another program between the check and the instance can send a 403, too. The response to HEAD has no body. */
function isProblemOfPlace({ headers, text }: HttpResponse): boolean {
  if (headers['content-type']?.startsWith('application/problem+json') !== true) return false;
  return text === '' || codesOfPlace.includes((JSON.parse(text) as { code?: unknown }).code);
}

const resultOfScopes = (scopes: readonly string[], { asked }: Key): ObservedResult =>
  asked?.scope === undefined || scopes.includes(asked.scope) ? 'accepted' : 'scope';

type Result =
  | { readonly valid: true; readonly keyId: number; readonly scopes: readonly string[] }
  | { readonly valid: false; readonly code: string };

const resultsOfBatch = (body: unknown): readonly Result[] => (body as { results: Result[] }).results;

/** Any other code is about another credential. The second group is only possible for a key that is changed. */
const resultsOfCodes: Readonly<Record<string, ObservedResult>> = {
  not_found: 'not_found',
  disabled: 'disabled',
  unavailable: 'unknown',
};
const resultsOfChangedKeys: Readonly<Record<string, ObservedResult>> = {
  expired: 'expired',
  address_required: 'address',
  address_not_allowed: 'address',
  insufficient_scope: 'scope',
};

function readResults(
  { status, text }: HttpResponse,
  keys: readonly Key[],
  resultsOf: (body: unknown) => readonly Result[],
): readonly ObservedResult[] | 'caller rejected' {
  if (status === 401) return 'caller rejected';
  if (status !== 200) return keys.map(() => 'unknown');
  const results = resultsOf(JSON.parse(text));
  return keys.map((key, index) => {
    const result = results[index];
    if (!result) return 'wrong_key';
    if (result.valid) return result.keyId === key.id ? resultOfScopes(result.scopes, key) : 'wrong_key';
    const found = resultsOfCodes[result.code] ?? (key.asked && resultsOfChangedKeys[result.code]);
    return found ?? 'wrong_key';
  });
}
