/** Random requests of services for `POST /auth/verify` and introspection: valid ones, and ones with a fault in each part. */
import { general, pick, split, type Random } from './traffic.ts';

/** What a service can present. The first of each is valid. */
export interface Presented {
  /** Header lines of the caller. */
  readonly callers: readonly string[];
  readonly credentials: readonly string[];
}

const json = 'Content-Type: application/json';
const form = 'Content-Type: application/x-www-form-urlencoded';

const types: readonly string[] = [
  json,
  form,
  'content-type:Application/JSON',
  `${json}; charset=utf-8`,
  `${json};charset="UTF-8"`,
  `${json}; charset=utf8;`,
  `${form}; charset=UTF-8`,
  `${json}; charset=latin1`,
  `${json}; charset=utf-8; boundary=a`,
  'Content-Type: application/json-patch+json',
  'Content-Type: text/plain',
  'Content-Type: ;',
  `${json}\r\n${form}`,
  'X-Content-Type: application/json',
];

const otherLines: readonly string[] = [
  'Connection: keep-alive',
  'Connection: close',
  'User-Agent: a',
  'Accept: */*',
  'Content-Encoding: gzip',
  'Content-Encoding: identity',
  'Origin: https://a.example',
  'Origin: https://other.example',
  'X-Forwarded-For: 203.0.113.7',
  'X-Forwarded-For: 203.0.113.7, a',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Proto: http',
  'x-forwarded-proto: HTTPS',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'Expect: 100-continue',
  'Expect: x',
  'Cookie: a=b',
  'Upgrade: a',
  'Host: b',
  Array.from({ length: 95 }, (_, n) => `X-${n}: a`).join('\r\n'),
  Array.from({ length: 99 }, (_, n) => `X-${n}: a`).join('\r\n'),
];

const requestLines: readonly string[] = [
  'HEAD /auth/verify HTTP/1.1',
  'PUT /auth/verify HTTP/1.1',
  'POST /auth/verify?a=b HTTP/1.1',
  'POST /auth/verify/ HTTP/1.1',
  'POST /auth/verifies HTTP/1.1',
  'POST /auth/verify HTTP/1.0',
  'POST http://keyreeve/auth/verify HTTP/1.1',
  'POST /id/auth/verify HTTP/1.1',
  'POST /auth/forward HTTP/1.1',
  'GET /auth/introspect HTTP/1.1',
];

/** Members of a verification as JSON text. Each has valid and wrong values. */
const members: Readonly<Record<string, readonly string[]>> = {
  scopes: ['["a"]', '[]', '["a","b"]', '["c"]', '["a","a"]', '["a b"]', '[""]', '"a"', '[1]', '[["a"]]', 'null', '{}'],
  environments: ['["live"]', '["test"]', '["live","test"]', '["other"]', '[]', '["Live"]', '"live"', '[null]'],
  address: ['"203.0.113.7"', '"198.51.100.1"', '"::1"', '"203.0.113.7:80"', '""', `"${'1'.repeat(80)}"`, 'null', '1'],
  cost: ['1', '0', '1.0', '1e0', '-0', '-1', '1.5', '10000000', '1e400', '"1"', 'true', 'null'],
  unknown: ['1'],
  constructor: ['1'],
  __proto__: ['{}', '1', '"a"'],
  credential: ['"a"'],
};

const tokens: readonly string[] = [
  '&token_type_hint=access_token',
  '&token_type_hint=',
  '&token_type_hint=a%20b',
  '&token_type_hint=a&token_type_hint=b',
  '&token=a',
  '&t%6Fken=a',
  '&client_id=a',
  '&__proto__=a',
  '&',
  '%41',
  '+a',
  '=a',
  '\r\n',
  '\xe4',
];

const spaces: readonly string[] = ['', ' ', '\n  ', '\t', '\r\n', '\xa0', '\f'];

function jsonBody(credential: string, random: Random): string {
  const names = Object.keys(members).filter(() => random() < 0.08);
  const texts = [
    `"credential":${JSON.stringify(credential)}`,
    ...names.map((name) => `"${name}":${random() < 0.6 ? members[name]?.[0] : pick(members[name] ?? [], random)}`),
  ];
  if (random() < 0.3) texts.reverse();
  const space = random() < 0.6 ? '' : pick(spaces, random);
  const text = `{${texts.map((member) => member.replace(':', `:${space}`)).join(`,${space}`)}}`;
  return random() < 0.85 ? text : brokenJson(text, random);
}

function brokenJson(text: string, random: Random): string {
  const at = Math.floor(random() * text.length);
  const kinds: readonly (() => string)[] = [
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(at + 1),
    () =>
      text.slice(0, at) +
      pick(['"', '\\', '{', ',', '\x00', '\xff', '\xc3\xa4', '\\u0061', '\\"'], random) +
      text.slice(at),
    () => `[${text}]`,
    () => `${text}${text}`,
    () => `\xef\xbb\xbf${text}`,
    () => text.replace('credential', 'cr\\u0065dential'),
    () => text.replace(/"credential":"[^"]*"/, '"credential":{"a":["b"]}'),
    () =>
      text.replace(
        /"credential":"[^"]*"/,
        pick(['"credential":1', '"credential":null', '"credential":[]', '"a":"b"'], random),
      ),
    () => text.replace('{', '{"cost":[[[[[[[[[[]]]]]]]]]],'),
    () => text.replace('}', `${' '.repeat(pick([900, 960, 1_024, 2_000, 17_000], random))}}`),
    () => pick(['', 'null', '1', '""', '[]', '{}', general], random),
  ];
  return pick(kinds, random)();
}

function formBody(credential: string, random: Random): string {
  const escaped = credential.replace(/^./, (char) => `%${char.charCodeAt(0).toString(16)}`);
  const text = `token=${random() < 0.9 ? credential : escaped}`;
  if (random() < 0.7) return text;
  const more = pick(tokens, random);
  return random() < 0.2 ? `${more.slice(1)}&${text}` : pick([`${text}${more}`, `token=${more}`, more, ''], random);
}

const chunked = (body: string): string =>
  body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** @returns a complete request: a server answers it with exactly one response that is not a 1xx */
export function serviceRequest({ callers, credentials }: Presented, random: Random): string {
  const rarely = <T>(usual: T, from: readonly T[]): T => (random() < 0.9 ? usual : pick(from, random));
  const isForm = random() < 0.4;
  const credential = random() < 0.4 ? (credentials[0] ?? '') : pick(credentials, random);
  const body = isForm ? formBody(credential, random) : jsonBody(credential, random);
  const isChunked = random() < 0.03;
  const lines = [
    random() < 0.96 ? `POST /auth/${isForm ? 'introspect' : 'verify'} HTTP/1.1` : pick(requestLines, random),
    'Host: keyreeve',
    rarely(callers[0] ?? '', callers),
    rarely(isForm ? form : json, types),
    ...otherLines.filter(() => random() < 0.01),
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ].filter((line) => line !== '');
  return `${lines.join('\r\n')}\r\n\r\n${isChunked ? chunked(body) : body}`;
}

export interface ServicePacket {
  readonly bytes: string;
  /** Number of responses that the client waits for before it sends the next packet. */
  readonly responses: number;
}

/** @returns the packets of some requests, which may share a packet */
export function servicePackets(requests: readonly string[], random: Random): ServicePacket[] {
  const packets: ServicePacket[] = [];
  let unsent = '';
  for (const [index, request] of requests.entries()) {
    unsent += request;
    if (random() < 0.05 && index + 1 < requests.length) continue;
    const parts = random() < 0.3 ? split(unsent, random) : [unsent];
    const responses = random() < 0.9 ? index + 1 : 0;
    packets.push(...parts.map((bytes, part) => ({ bytes, responses: part + 1 < parts.length ? 0 : responses })));
    unsent = '';
  }
  return packets;
}
