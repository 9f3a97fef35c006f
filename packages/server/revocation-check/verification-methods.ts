/** All requests that verify a key, and how to read their responses. */
import { randomInt } from 'node:crypto';
import { identityHeaders } from '@keyreeve/contract';
import type { ObservedResult } from './history.ts';
import type { HttpRequest, HttpResponse } from './instance.ts';

export interface Key {
  readonly id: number;
  readonly secret: string;
}

export interface VerificationMethod {
  /** How the request presents the credential: for explanations, after method and path. */
  readonly how: string;
  /** The number of keys that one request can verify. */
  readonly keysMax: number;
  /** The key authenticates the request, so only callers' keys can be verified this way. */
  readonly isForCallers: boolean;
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
const pick = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;

type Headers = (key: Key) => Record<string, string>;

const verify = (caller: Key, credential: string): HttpRequest => ({
  method: 'POST',
  path: '/auth/verify',
  headers: { ...bearer(caller), ...json },
  body: JSON.stringify({ credential }),
});
const verifyBatch = (caller: Key, keys: readonly Key[]): HttpRequest => ({
  method: 'POST',
  path: '/auth/verify/batch',
  headers: { ...bearer(caller), ...json },
  body: JSON.stringify({ credentials: keys.map(({ secret }) => secret) }),
});
const introspect = (authorization: Record<string, string>, token: string): HttpRequest => ({
  method: 'POST',
  path: '/auth/introspect',
  headers: { ...authorization, ...form },
  body: `token=${token}`,
});

const byForward = (how: string, headers: Headers, isVaried: boolean): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: false,
  request: (keys) => ({
    method: isVaried ? pick(methods) : 'GET',
    path: isVaried ? pick(paths) : '/auth/forward',
    headers: headers(only(keys)),
  }),
  read: readForward,
});

const byIntrospection = (how: string, authorization: Headers): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: false,
  request: (keys, caller) => introspect(authorization(caller), only(keys).secret),
  read: ({ status, text }) => {
    if (status === 401) return 'caller rejected';
    if (status !== 200) return ['unknown'];
    return [(JSON.parse(text) as { active: boolean }).active ? 'accepted' : 'rejected'];
  },
});

/** The key under test authenticates the request, which verifies the check's own caller key: that key is always valid. */
const asCaller = (how: string, request: VerificationMethod['request']): VerificationMethod => ({
  how,
  keysMax: 1,
  isForCallers: true,
  request,
  read: ({ status, text }) => {
    if (status === 200) return ['accepted'];
    const isRejected = status === 401 && (JSON.parse(text) as { code: string }).code === 'invalid_service_key';
    return [isRejected ? 'rejected' : 'unknown'];
  },
});

export const verificationMethods: readonly VerificationMethod[] = [
  byForward('Bearer', bearer, false),
  byForward('X-API-Key', apiKey, false),
  byForward('either header', (key) => pick([bearer, apiKey])(key), true),
  {
    how: 'credential',
    keysMax: 1,
    isForCallers: false,
    request: (keys, caller) => verify(caller, only(keys).secret),
    read: (response, keys) => readResults(response, keys, (body) => [body as Result]),
  },
  {
    how: 'credentials',
    keysMax: batchMax,
    isForCallers: false,
    request: (keys, caller) => verifyBatch(caller, keys),
    read: (response, keys) => readResults(response, keys, (body) => (body as { results: Result[] }).results),
  },
  byIntrospection('token, caller by Bearer', bearer),
  byIntrospection('token, caller by Basic', basic),
  asCaller('as caller', (keys, caller) => verify(only(keys), caller.secret)),
  asCaller('as caller', (keys, caller) => verifyBatch(only(keys), [caller])),
  asCaller('as caller by Bearer', (keys, caller) => introspect(bearer(only(keys)), caller.secret)),
  asCaller('as caller by Basic', (keys, caller) => introspect(basic(only(keys)), caller.secret)),
];

/** For explanations, without the secret. */
export const describeRequest = ({ how }: VerificationMethod, { method, path }: HttpRequest): string =>
  `${method} ${path} (${how})`;

const keyIdHeader = identityHeaders.keyId.toLowerCase();

function readForward({ status, headers }: HttpResponse, keys: readonly Key[]): readonly ObservedResult[] {
  if (status === 200) return [headers[keyIdHeader] === String(only(keys).id) ? 'accepted' : 'wrong_key'];
  return [status === 401 ? 'rejected' : 'unknown'];
}

type Result = { readonly valid: true; readonly keyId: number } | { readonly valid: false; readonly code: string };

function readResults(
  { status, text }: HttpResponse,
  keys: readonly Key[],
  resultsOf: (body: unknown) => readonly Result[],
): readonly ObservedResult[] | 'caller rejected' {
  if (status === 401) return 'caller rejected';
  if (status !== 200) return keys.map(() => 'unknown');
  const results = resultsOf(JSON.parse(text));
  return keys.map(({ id }, index) => {
    const result = results[index];
    if (!result) return 'wrong_key';
    if (result.valid) return result.keyId === id ? 'accepted' : 'wrong_key';
    if (result.code === 'unavailable') return 'unknown';
    // Any other code is about another credential.
    return result.code === 'not_found' || result.code === 'disabled' ? result.code : 'wrong_key';
  });
}
