/** The credential of a client's request, from `Authorization` or `X-API-Key`. It is never read from the query or a cookie. */
import type { ProblemCode } from './problem.ts';

/** Names and values, one pair for each line. Names have any case. `Headers` and `Map` have this form. */
export type HeaderLines = Iterable<readonly [name: string, value: string]>;

/** What is read of a request of `node:http`. */
export interface NodeRequest {
  /** Names and values, alternating. Adapters of serverless platforms leave it empty. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Of a request from the network, it has only the first of two Authorization lines. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Not the `headers` of a Node request, which lack the second of two credentials: the request itself. */
export type RequestHeaders = HeaderLines | NodeRequest;

export type RequestCredential =
  | { readonly problem: ProblemCode }
  | {
      readonly text: string;
      /** X-API-Key and Basic are for API keys only. */
      readonly isKeyOnly: boolean;
    };

const valueCharsMax = 4_096;
const bearerForm = /^bearer +([\x21-\x2B\x2D-\x7E]+) *$/i;
const basicForm = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
/** A user name without control characters, and a password in the characters of a Bearer credential. */
const userAndPassword = /^([\x20-\x39\x3B-\x7E\x80-\xFF]*):([\x21-\x2B\x2D-\x7E]*)$/;
const keyForm = /^[\x21-\x2B\x2D-\x7E]+$/;

/**
 * Like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is none.
 * @param acceptsBasic whether an API key may be a Basic credential
 * @throws TypeError for headers in another form
 */
export function credentialOf(headers: RequestHeaders, acceptsBasic: boolean): RequestCredential {
  const present: (readonly [name: string, value: string])[] = [];
  for (const [line, value] of linesOf(headers)) {
    const name = line.toLowerCase();
    if ((name === 'authorization' || name === 'x-api-key') && !/^[\t ]*$/.test(value)) present.push([name, value]);
  }
  const [first, second] = present;
  if (!first) return { problem: 'missing_credential' };
  if (second) return { problem: 'ambiguous_credentials' };
  const [name, value] = first;
  if (value.length > valueCharsMax) return { problem: 'invalid_credential' };
  // Runtimes join the lines of a repeated header with a comma. No credential contains one.
  if (value.includes(',')) return { problem: 'ambiguous_credentials' };
  const bearer = name === 'authorization' ? bearerForm.exec(value)?.[1] : undefined;
  if (bearer !== undefined) return { text: bearer, isKeyOnly: false };
  const text = name === 'x-api-key' ? value : acceptsBasic ? keyOfBasic(value) : undefined;
  return text === undefined || text.includes(' ') ? { problem: 'invalid_credential' } : { text, isKeyOnly: true };
}

/** The password with any user name, or the user name with an empty password. */
function keyOfBasic(value: string): string | undefined {
  const encoded = basicForm.exec(value)?.[1] ?? '';
  // One character for each byte.
  const text = encoded.length % 4 === 0 ? atob(encoded) : '';
  // Padding bits that are not zero would give one credential several encodings.
  if (btoa(text) !== encoded) return undefined;
  const [, user = '', password = ''] = userAndPassword.exec(text) ?? [];
  if (password !== '') return password;
  return keyForm.test(user) ? user : undefined;
}

function linesOf(source: RequestHeaders): HeaderLines {
  if (Symbol.iterator in source) return source;
  const { rawHeaders = [], headers } = source;
  if (typeof headers !== 'object')
    throw new TypeError('headers: expected names and values such as `Headers`, or a request of Node');
  return rawHeaders.length > 0
    ? rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : []))
    : Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const));
}
