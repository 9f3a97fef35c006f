/** The credential of a client's request, from `Authorization` or `X-API-Key`. It is never read from the query or a cookie. */

export type RequestCredential =
  | { readonly kind: 'none' | 'ambiguous' | 'malformed' }
  | { readonly kind: 'bearer' | 'api_key_header'; readonly text: string };

/** All values of a header; one text for each line. */
export interface CredentialHeaders {
  readonly authorization: readonly string[];
  readonly apiKey: readonly string[];
}

const valueCharsMax = 4_096;
const bearerForm = /^bearer +([\x21-\x2B\x2D-\x7E]+) *$/i;

/** Like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is none. */
export function credentialOf(headers: CredentialHeaders): RequestCredential {
  const authorization = headers.authorization.filter(isPresent);
  const [value, ...others] = [...authorization, ...headers.apiKey.filter(isPresent)];
  if (value === undefined) return { kind: 'none' };
  if (others.length > 0) return { kind: 'ambiguous' };
  if (value.length > valueCharsMax) return { kind: 'malformed' };
  // Runtimes join the lines of a repeated header with a comma. No credential contains one.
  if (value.includes(',')) return { kind: 'ambiguous' };
  return authorization.length > 0 ? readAuthorization(value) : readApiKey(value);
}

function readAuthorization(value: string): RequestCredential {
  const text = bearerForm.exec(value)?.[1];
  return text === undefined ? { kind: 'malformed' } : { kind: 'bearer', text };
}

const isPresent = (line: string): boolean => !/^[\t ]*$/.test(line);

const readApiKey = (text: string): RequestCredential =>
  text.includes(' ') ? { kind: 'malformed' } : { kind: 'api_key_header', text };

/** What is read of a request of Node. */
export interface NodeHeaders {
  /** Names and values, alternating. Adapters of serverless platforms leave it empty. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Of a request from the network, it has only the first of two Authorization lines. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export function headersOfNode({ rawHeaders = [], headers }: NodeHeaders): CredentialHeaders {
  const lines =
    rawHeaders.length > 0
      ? rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []))
      : Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  const valuesOf = (wanted: string): string[] =>
    lines.flatMap(([name = '', value = '']) => (name.toLowerCase() === wanted ? [value] : []));
  return { authorization: valuesOf('authorization'), apiKey: valuesOf('x-api-key') };
}

export function headersOfFetch(headers: Headers): CredentialHeaders {
  const valuesOf = (name: string): string[] => {
    const value = headers.get(name);
    return value === null ? [] : [value];
  };
  return { authorization: valuesOf('authorization'), apiKey: valuesOf('x-api-key') };
}
