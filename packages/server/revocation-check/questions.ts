/** Every way to ask the service whether a key is valid, and how each response reads. */
import { randomInt } from 'node:crypto';
import { identityHeaders } from '@keyreeve/contract';
import type { Verdict } from './history.ts';
import type { HttpAnswer, HttpRequest } from './instance.ts';

export interface AskedKey {
  readonly id: number;
  readonly secret: string;
}

export interface Question {
  /** For explanations, after method and path: how the credential is presented. */
  readonly how: string;
  /** How many keys one request asks about. */
  readonly keysMax: number;
  /** The key authenticates the request instead of being asked about, so only callers' keys can be asked this way. */
  readonly isForCallers: boolean;
  readonly request: (keys: readonly AskedKey[], service: AskedKey) => HttpRequest;
  /** In the order of the keys. `caller refused` when it is the service's own key that was not accepted. */
  readonly read: (answer: HttpAnswer, keys: readonly AskedKey[]) => readonly Verdict[] | 'caller refused';
}

const bearer = ({ secret }: AskedKey): Record<string, string> => ({ authorization: `Bearer ${secret}` });
/** RFC 7662 clients: the key's id as user, the key as password. */
const basic = ({ id, secret }: AskedKey): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const apiKey = ({ secret }: AskedKey): Record<string, string> => ({ 'x-api-key': secret });
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
/** The first key: of all questions but the batch the only one. */
const only = ([key]: readonly AskedKey[]): AskedKey => key as AskedKey;

/** More would make the others wait behind it. */
const batchMax = 8;

/** Envoy sends the client's own method and path; other proxies may send any method. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const paths = ['/auth/forward', '/auth/forward/', '/auth/forward/orders/1?x=y', '/auth/forward?scope='] as const;
const pick = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;

type Headers = (key: AskedKey) => Record<string, string>;

const verify = (caller: AskedKey, credential: string): HttpRequest => ({
  method: 'POST',
  path: '/auth/verify',
  headers: { ...bearer(caller), ...json },
  body: JSON.stringify({ credential }),
});
const verifyBatch = (caller: AskedKey, keys: readonly AskedKey[]): HttpRequest => ({
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

const forwarding = (how: string, headers: Headers, isVaried: boolean): Question => ({
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

const introspecting = (how: string, authorization: Headers): Question => ({
  how,
  keysMax: 1,
  isForCallers: false,
  request: (keys, service) => introspect(authorization(service), only(keys).secret),
  read: ({ status, text }) => {
    if (status === 401) return 'caller refused';
    if (status !== 200) return ['unknown'];
    return [(JSON.parse(text) as { active: boolean }).active ? 'accepted' : 'refused'];
  },
});

/** The key is the caller, and asks about the service's key, which is valid throughout. */
const calling = (how: string, request: Question['request']): Question => ({
  how,
  keysMax: 1,
  isForCallers: true,
  request,
  read: ({ status, text }) => {
    if (status === 200) return ['accepted'];
    const isRefused = status === 401 && (JSON.parse(text) as { code: string }).code === 'invalid_service_key';
    return [isRefused ? 'refused' : 'unknown'];
  },
});

export const questions: readonly Question[] = [
  forwarding('Bearer', bearer, false),
  forwarding('X-API-Key', apiKey, false),
  forwarding('either header', (key) => pick([bearer, apiKey])(key), true),
  {
    how: 'credential',
    keysMax: 1,
    isForCallers: false,
    request: (keys, service) => verify(service, only(keys).secret),
    read: (answer, keys) => readResults(answer, keys, (body) => [body as Result]),
  },
  {
    how: 'credentials',
    keysMax: batchMax,
    isForCallers: false,
    request: (keys, service) => verifyBatch(service, keys),
    read: (answer, keys) => readResults(answer, keys, (body) => (body as { results: Result[] }).results),
  },
  introspecting('token, caller by Bearer', bearer),
  introspecting('token, caller by Basic', basic),
  calling('as caller', (keys, service) => verify(only(keys), service.secret)),
  calling('as caller', (keys, service) => verifyBatch(only(keys), [service])),
  calling('as caller by Bearer', (keys, service) => introspect(bearer(only(keys)), service.secret)),
  calling('as caller by Basic', (keys, service) => introspect(basic(only(keys)), service.secret)),
];

/** Without the secret: for explanations. */
export const describeRequest = ({ how }: Question, { method, path }: HttpRequest): string =>
  `${method} ${path} (${how})`;

const keyIdHeader = identityHeaders.keyId.toLowerCase();

function readForward({ status, headers }: HttpAnswer, keys: readonly AskedKey[]): readonly Verdict[] {
  if (status === 200) return [headers[keyIdHeader] === String(only(keys).id) ? 'accepted' : 'mistaken'];
  return [status === 401 ? 'refused' : 'unknown'];
}

type Result = { readonly valid: true; readonly keyId: number } | { readonly valid: false; readonly code: string };

function readResults(
  { status, text }: HttpAnswer,
  keys: readonly AskedKey[],
  resultsOf: (body: unknown) => readonly Result[],
): readonly Verdict[] | 'caller refused' {
  if (status === 401) return 'caller refused';
  if (status !== 200) return keys.map(() => 'unknown');
  const results = resultsOf(JSON.parse(text));
  return keys.map(({ id }, index) => {
    const result = results[index];
    if (!result) return 'mistaken';
    if (result.valid) return result.keyId === id ? 'accepted' : 'mistaken';
    if (result.code === 'unavailable') return 'unknown';
    // Another code would be about a credential that is not this one.
    return result.code === 'not_found' || result.code === 'disabled' ? result.code : 'mistaken';
  });
}
