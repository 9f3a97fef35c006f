/** Every way to ask whether a key is good, and how its answer reads. */
import { identityHeaders } from '@keyreeve/contract';
import type { Verdict } from './history.ts';
import type { HttpAnswer, HttpRequest } from './instance.ts';

export interface AskedKey {
  readonly id: number;
  readonly secret: string;
}

export interface Question {
  /** For people: the method, the path, and what else tells it from others. */
  readonly name: string;
  /** How many keys one request asks about. */
  readonly keysMax: number;
  readonly request: (keys: readonly AskedKey[], service: AskedKey) => HttpRequest;
  /** In the order of the keys. `caller refused` when it is the service's own key that wasn't accepted. */
  readonly read: (answer: HttpAnswer, keys: readonly AskedKey[]) => readonly Verdict[] | 'caller refused';
}

const bearer = ({ secret }: AskedKey): Record<string, string> => ({ authorization: `Bearer ${secret}` });
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const secretOf = ([key]: readonly AskedKey[]): string => key?.secret ?? '';

/** More would make the others wait behind it. */
const batchMax = 8;

export const questions: readonly Question[] = [
  {
    name: 'GET /auth/forward (Bearer)',
    keysMax: 1,
    request: (keys) => forwarded({ authorization: `Bearer ${secretOf(keys)}` }),
    read: readForward,
  },
  {
    name: 'GET /auth/forward (X-API-Key)',
    keysMax: 1,
    request: (keys) => forwarded({ 'x-api-key': secretOf(keys) }),
    read: readForward,
  },
  {
    name: 'POST /auth/verify',
    keysMax: 1,
    request: (keys, service) => ({
      method: 'POST',
      path: '/auth/verify',
      headers: { ...bearer(service), 'content-type': json },
      body: JSON.stringify({ credential: secretOf(keys) }),
    }),
    read: (answer, keys) => readResults(answer, keys, (body) => [body as Result]),
  },
  {
    name: 'POST /auth/verify/batch',
    keysMax: batchMax,
    request: (keys, service) => ({
      method: 'POST',
      path: '/auth/verify/batch',
      headers: { ...bearer(service), 'content-type': json },
      body: JSON.stringify({ credentials: keys.map(({ secret }) => secret) }),
    }),
    read: (answer, keys) => readResults(answer, keys, (body) => (body as { results: Result[] }).results),
  },
  {
    name: 'POST /auth/introspect',
    keysMax: 1,
    request: (keys, service) => ({
      method: 'POST',
      path: '/auth/introspect',
      headers: { ...bearer(service), 'content-type': form },
      body: `token=${secretOf(keys)}`,
    }),
    read: ({ status, text }) => {
      if (status === 401) return 'caller refused';
      if (status !== 200) return ['unknown'];
      return [(JSON.parse(text) as { active: boolean }).active ? 'accepted' : 'refused'];
    },
  },
];

const forwarded = (headers: Record<string, string>): HttpRequest => ({ method: 'GET', path: '/auth/forward', headers });

const keyIdHeader = identityHeaders.keyId.toLowerCase();

function readForward({ status, headers }: HttpAnswer, keys: readonly AskedKey[]): readonly Verdict[] {
  if (status === 200) return [headers[keyIdHeader] === String(keys[0]?.id) ? 'accepted' : 'mistaken'];
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
    // Another code would be about a credential that isn't this one.
    return result.code === 'not_found' || result.code === 'disabled' ? result.code : 'mistaken';
  });
}
