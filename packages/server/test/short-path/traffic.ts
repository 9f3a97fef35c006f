/** Random traffic of one connection: requests that proxies send, mutated, and split into packets at random places. */

export interface Packet {
  readonly bytes: string;
  /** Whether the client waits for all responses before it sends the next packet. */
  readonly waits: boolean;
}

export interface Traffic {
  readonly seed: number;
  readonly packets: readonly Packet[];
  readonly requests: number;
  /** Whether the client closes its side after the last packet. */
  readonly isHalfClosed: boolean;
}

export type Random = () => number;

export const verifyPath = '/auth/verify';
/** The handler of the short path does not accept a body with this text. */
export const general = 'general';

const get = 'GET /auth/forward HTTP/1.1';

const ordinaryLines: readonly string[] = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0)',
  'Accept: application/json, text/plain;q=0.9',
  'Accept-Encoding: gzip, deflate, br',
  'Cookie: a=b; c="d e"',
  'X-Forwarded-For: 203.0.113.9, 10.4.5.6',
  'X-Forwarded-Method: POST',
  'X-Forwarded-Uri: /orders/17?page=2#top',
  'x-request-id:0123456789abcdef',
  'Connection: keep-alive',
  "X-!#$%&'*+.^_`|~: a",
  'Content-Type: application/json',
  'X-API-Key: krv_other',
  'Authorization: Basic YTpi',
];

/** Lines on which the framing, the connection or the validity of a request depends, or which parsers interpret differently. */
const criticalLines: readonly string[] = [
  'Content-Length: 0',
  'Content-Length: 5',
  'content-length: 5',
  'Content-Length : 5',
  'Transfer-Encoding: chunked',
  'transfer-encoding: CHUNKED',
  'Transfer-Encoding: gzip',
  'Connection: close',
  'connection: close',
  'Connection: keep-alive, close',
  'Connection: close\r\nConnection: keep-alive',
  'Connection: keep-alive ',
  'Connection: Upgrade',
  'Proxy-Connection: close',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'expect: 100-Continue',
  'expect: x',
  'TE: trailers',
  'Trailer: X',
  'Host: b',
  'host: a',
  'X: a\r\n b',
  'X: a\r\n\tb',
  'X:  a',
  'X: a ',
  'X: a  b',
  'X:\ta',
  'X: a\tb',
  'X:',
  'X: ',
  ': a',
  'X',
  'X : a',
  ' X: a',
  'X Y: a',
  'X\x01: a',
  'X(: a',
  'X\xe4: a',
  'X: a\x01',
  'X: a\0b',
  'X: a\x7f',
  'X: \xe4',
];

const requestLines: readonly string[] = [
  'GET /auth/forward?scope=a&scope=b%20c HTTP/1.1',
  'GET /auth/forward/orders/17?page=2 HTTP/1.1',
  'GET /auth/forward#a HTTP/1.1',
  'GET /auth/forwards HTTP/1.1',
  'GET /health/live HTTP/1.1',
  'GET http://a/auth/forward HTTP/1.1',
  'GET //auth/forward HTTP/1.1',
  'GET * HTTP/1.1',
  'GET /auth/forward HTTP/1.0',
  'GET /auth/forward HTTP/1.2',
  'GET /auth/forward HTTP/2.0',
  'GET /auth/forward http/1.1',
  'GET /auth/forward',
  'GET  /auth/forward HTTP/1.1',
  'GET /auth/forward  HTTP/1.1',
  'GET /auth/forward HTTP/1.1 ',
  ' GET /auth/forward HTTP/1.1',
  '\r\nGET /auth/forward HTTP/1.1',
  'GET\t/auth/forward HTTP/1.1',
  'GET /auth/forward?\x01 HTTP/1.1',
  'GET /auth/forward?\xe4 HTTP/1.1',
  'GET /auth/forward?a"<>[\\]^`{|} HTTP/1.1',
  'get /auth/forward HTTP/1.1',
  'HEAD /auth/forward HTTP/1.1',
  'POST /auth/forward HTTP/1.1',
  'PUT /auth/forward HTTP/1.1',
  'CONNECT /auth/forward HTTP/1.1',
  'CONNECT a:80 HTTP/1.1',
  'BREW /auth/forward HTTP/1.1',
  'PRI * HTTP/2.0',
];

const fragments: readonly string[] = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\r\n ',
  '\n\n',
  '\0',
  '\t',
  ' ',
  ':',
  ',',
  '\x7f',
  '\x80',
  '\xff',
  'X: a\r\n',
];

/** What may follow the header block in the same read. */
const tails: readonly string[] = [
  '\r\n',
  '\n',
  'G',
  'GET /',
  'hello',
  '0\r\n\r\n',
  'GET /auth/forward HTTP/1.1\r\nX: ',
  'CONNECT a:80 HTTP/1.1\r\nX: ',
  'POST /auth/forward HTTP/1.1\r\nContent-Length: 500\r\nX: ',
  'POST /auth/forward HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n',
];

/** @returns a generator of numbers from 0 to 1 that repeats itself for the same seed (mulberry32) */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * @param count number of connections
 * @param mutatedShare share of requests that are mutated
 * @returns the traffic of each connection, the same for the same arguments
 */
export function* traffics(count: number, mutatedShare = 0.12): Generator<Traffic> {
  for (let seed = 1; seed <= count; seed++) yield trafficOf(seed, mutatedShare);
}

/** A request with a body on a connection that has the short path, in two packets: one connection for each place. */
export function* splitTraffics(): Generator<Traffic> {
  const body = bodies[0] ?? '';
  const bytes = postOf([post, 'Host: a', `Content-Length: ${body.length}`], body);
  const packet = (part: string): Packet => ({ bytes: part, waits: true });
  for (let place = 1; place < bytes.length; place++) {
    const packets = [bytes, bytes, bytes.slice(0, place), bytes.slice(place), bytes].map(packet);
    yield { seed: place, packets, requests: 4, isHalfClosed: place % 2 === 0 };
  }
}

function trafficOf(seed: number, mutatedShare: number): Traffic {
  const random = randomOf(seed);
  const requests = 4 + Math.floor(random() * 12);
  const packets: Packet[] = [];
  let unsent = '';
  for (let n = 0; n < requests; n++) {
    const isEarly = n < 2;
    const isMutated = random() < (isEarly ? mutatedShare / 4 : mutatedShare);
    const request = isMutated ? mutated(random) : ordinary(random);
    const tail = isEarly && random() < mutatedShare / 4 ? pick(tails, random) : '';
    const bytes = unsent + request + tail;
    unsent = '';
    const how = isEarly ? random() * 0.9 : random();
    // The next request follows in the same packet.
    if (how > 0.98 && n + 1 < requests) unsent = bytes;
    else
      packets.push(
        ...(how > 0.88 ? split(bytes, random) : [bytes]).map((part) => ({ bytes: part, waits: random() > 0.05 })),
      );
    // A body that does not arrive: the response depends on the time at which the client closes its side.
    if (isMutated) packets.push({ bytes: '', waits: true });
  }
  const isHalfClosed = random() < 0.5;
  const last = packets.at(-1);
  // The client closes its side while its last request is in progress.
  if (isHalfClosed && last && last.bytes !== '') packets.splice(-1, 1, { ...last, waits: false });
  return { seed, packets, requests, isHalfClosed };
}

export const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T;

const text = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

function ordinaryParts(random: Random): string[] {
  const others = ordinaryLines.filter(() => random() < 0.3);
  return [random() < 0.8 ? get : pick(requestLines.slice(0, 2), random), 'Host: keyreeve:8787', ...others];
}

const ordinary = (random: Random): string =>
  random() < 0.5 ? text([...ordinaryParts(random), `X-API-Key: krv_${random()}`]) : ordinaryPost(random);

/** Bodies, each character one byte. */
const bodies: readonly string[] = [
  '{"credential":"krv_a"}',
  '{"credential":"krv_a"}\r\n\r\n',
  'GET /auth/forward HTTP/1.1\r\nHost: a\r\n\r\n',
  '\r\n',
  '\x00\xff\x80',
  'x'.repeat(1_024),
];

const post = `POST ${verifyPath} HTTP/1.1`;
const postOf = (lines: readonly string[], body: string): string => text(lines) + body;

function postParts(random: Random, length: number | string): string[] {
  const [, ...lines] = ordinaryParts(random);
  return [post, ...lines.toSpliced(1, 0, `Content-Length: ${length}`)];
}

function ordinaryPost(random: Random): string {
  const body = random() < 0.02 ? general : random() < 0.5 ? pick(bodies, random) : `{"credential":"krv_${random()}"}`;
  return postOf(postParts(random, body.length), body);
}

/** Values of Content-Length that parsers may interpret differently. */
const lengthsOf = (bytes: number): string[] => [
  '0',
  '',
  `0${bytes}`,
  `+${bytes}`,
  `${bytes}, ${bytes}`,
  `${bytes} ${bytes}`,
  '0x5',
  '1e1',
  '99999999999999999999',
];

/** A POST whose framing or size is not that of the subset. */
function mutatedPost(random: Random): string {
  const body = pick(bodies, random);
  const { length } = body;
  const lines = postParts(random, length);
  const bytes = postOf(lines, body);
  const place = somewhere(bytes.length, random);
  const withLength = (value: number | string): string => postOf(postParts(random, value), body);
  const withLine = (...added: string[]): string => postOf(lines.toSpliced(1, 0, ...added), body);
  const start = pick(
    [...requestLines, `${post.slice(0, -1)}0`, post.replace(' H', '?a H'), post.replace('POST', 'PUT')],
    random,
  );
  const kinds: readonly (() => string)[] = [
    () => withLength(length + 1),
    () => withLength(Math.max(length - 1, 0)),
    () => withLength(pick(lengthsOf(length), random)),
    () => withLength(pick([1_025, 9_000, 20_000], random)),
    () => withLine(`content-length: ${pick([length, length + 1], random)}`),
    () => withLine('Transfer-Encoding: chunked'),
    () => withLine(pick(criticalLines, random)),
    () => postOf(lines.with(0, start), body),
    () =>
      postOf(
        lines.filter((line) => !line.startsWith('Content-Length')),
        body,
      ),
    () => postOf(postParts(random, 1_025), 'x'.repeat(1_025)),
    () => bytes + pick(tails, random),
    () => bytes.slice(0, place) + pick(fragments, random) + bytes.slice(place),
    () => bytes.slice(0, place) + bytes.slice(place + 1 + somewhere(2, random)),
  ];
  return pick(kinds, random)();
}

const somewhere = (size: number, random: Random): number => Math.floor(random() * (size + 1));

function mutated(random: Random): string {
  if (random() < 0.4) return mutatedPost(random);
  const lines = ordinaryParts(random);
  const at = 1 + somewhere(lines.length - 1, random);
  const bytes = text(lines);
  const place = somewhere(bytes.length, random);
  const kinds: readonly (() => string)[] = [
    () => text(lines.toSpliced(at, 0, pick(criticalLines, random))),
    () => text(lines.toSpliced(at, 0, pick(criticalLines, random), pick(criticalLines, random))),
    () => text(lines.with(0, pick(requestLines, random))),
    () => text(lines.toSpliced(at, 0, lines[at] ?? 'Host: b')),
    () => text(lines.toSpliced(at, 1)),
    () => text(lines.map((line) => (random() < 0.5 && line !== lines[0] ? line.toUpperCase() : line))),
    () => bytes + pick(tails, random),
    () => bytes.slice(0, place) + pick(fragments, random) + bytes.slice(place),
    () => bytes.slice(0, place) + pick(fragments, random) + bytes.slice(place + 1),
    () => bytes.slice(0, place) + bytes.slice(place + 1 + somewhere(2, random)),
    () => bytes.slice(0, place) + String.fromCharCode(Math.floor(random() * 256)) + bytes.slice(place + 1),
    () => bytes.replaceAll('\r\n', '\n'),
    () => bytes.replace('\r\n', '\n'),
    // Around the bounds of both parsers.
    () => text([...lines, `X: ${'x'.repeat(pick([8_000, 8_192, 16_200, 16_384, 20_000], random))}`]),
    () => text([...lines, ...Array.from({ length: pick([90, 99, 101, 150], random) }, (_, n) => `X-${n}: a`)]),
  ];
  return pick(kinds, random)();
}

export function split(bytes: string, random: Random): string[] {
  const parts: string[] = [];
  let rest = bytes;
  while (rest !== '') {
    const size = random() < 0.3 ? rest.length : 1 + somewhere(rest.length - 1, random);
    parts.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return parts;
}
