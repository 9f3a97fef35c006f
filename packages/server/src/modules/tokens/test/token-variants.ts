/** Thousands of variants of one access token, each with the reason for which Keyreeve rejects it although `jose` accepts it. */
import { createHmac, generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import type { Fields } from './genuine-token.ts';

export interface Variant {
  readonly what: string;
  readonly token: string;
  /** Why Keyreeve is stricter; undefined if both decide the same. */
  readonly stricter?: Strictness | undefined;
}

/** What `jose` accepts and Keyreeve rejects. */
export const strictnesses = [
  'a further header',
  'another spelling of typ',
  'no kid',
  'sub is no text',
  'sid is no id of a session',
  'iat is not in whole seconds of RFC 3339',
  'exp is not in whole seconds of RFC 3339',
  'iat in the future',
  'another encoding',
  'ambiguous or deeply nested JSON',
] as const;
export type Strictness = (typeof strictnesses)[number];

/** A token and what signs others. */
export interface Original {
  readonly header: Fields;
  readonly payload: Fields;
  readonly privateKey: KeyObject;
  /** As PEM. */
  readonly publicKey: string;
  /** Seconds since 1970. */
  readonly now: number;
}

const encoded = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
/** A number below `max` that depends only on the seed. */
const drawn = (seed: string, max: number): number => hash('sha256', seed, 'buffer').readUInt32BE() % max;

function signed(
  input: string,
  key: KeyObject,
  digest: string | null = key.asymmetricKeyType === 'ed25519' ? null : 'sha256',
): string {
  return `${input}.${encoded(sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }))}`;
}

export function* variantsOf(original: Original): Generator<Variant> {
  yield* changedMembers(original);
  yield* texts(original);
  yield* otherKeys(original);
  yield* changedCharacters(original);
  if (original.header['alg'] === 'ES256') yield* changedSignatures(original);
}

function* changedMembers(original: Original): Generator<Variant> {
  const { header, payload, privateKey, now } = original;
  const tokenOf = (head: Fields, body: Fields): string =>
    signed(`${encoded(JSON.stringify(head))}.${encoded(JSON.stringify(body))}`, privateKey);
  const stricterThan = (head: Fields, body: Fields): Strictness | undefined => strictnessOf(head, body, original);
  const times = [0, -1, 29, 30, 31, -29, -30, -31, 30.5, -29.5, 0.5, 86_400, -31_536_000].map((offset) => now + offset);
  const others = [undefined, null, true, 0, -1, '', 'x', [], {}, 1e300, 253_402_300_799, 253_402_300_800, 2 ** 53];
  const valuesOf = (value: unknown): unknown[] => [
    value,
    [value],
    ['x', value],
    { value },
    `${String(value)}x`,
    ...others,
  ];
  const changes: (readonly ['header' | 'payload', Fields])[] = [];
  for (const name of ['iss', 'aud', 'sub', 'sid', 'iat', 'exp', 'nbf', 'jti', 'auth_time', 'client_id', 'more'])
    for (const value of [...valuesOf(payload[name]), ...(['iat', 'exp', 'nbf'].includes(name) ? times : [])])
      changes.push(['payload', { [name]: value }]);
  for (const iat of times) for (const nbf of [now, now + 31]) changes.push(['payload', { iat, nbf }]);
  for (const name of ['alg', 'kid', 'typ', 'crit', 'b64', 'cty', 'jku', 'jwk', 'zip'])
    for (const value of valuesOf(header[name])) changes.push(['header', { [name]: value }]);
  for (const alg of [
    'none',
    'None',
    'es256',
    'ES384',
    'ES512',
    'ES256K',
    'HS256',
    'RS256',
    'PS256',
    'EdDSA',
    'Ed25519',
  ])
    changes.push(['header', { alg }]);
  for (const typ of ['AT+JWT', 'application/at+jwt', 'JWT', 'at+jwt ', 'at']) changes.push(['header', { typ }]);
  for (const crit of [['b64'], ['exp'], ['b64', 'b64'], [1], 'b64'])
    for (const b64 of [true, false, undefined]) changes.push(['header', { crit, b64 }]);
  const appliedOf = (where: 'header' | 'payload', ...applied: typeof changes): Fields =>
    Object.assign(
      {},
      where === 'header' ? header : payload,
      ...applied.flatMap(([at, change]) => (at === where ? [change] : [])),
    ) as Fields;
  for (const change of changes) {
    const [head, body] = [appliedOf('header', change), appliedOf('payload', change)];
    yield { what: JSON.stringify(change), token: tokenOf(head, body), stricter: stricterThan(head, body) };
  }
  for (let seed = 0; seed < 1_200; seed++) {
    const pair = [0, 1].flatMap((n) => changes[drawn(`pair ${seed} ${n}`, changes.length)] ?? []) as unknown[];
    const two = [pair.slice(0, 2), pair.slice(2, 4)] as unknown as typeof changes;
    const [head, body] = [appliedOf('header', ...two), appliedOf('payload', ...two)];
    yield { what: JSON.stringify(two), token: tokenOf(head, body), stricter: stricterThan(head, body) };
  }
}

/** The first reason that applies to a signed token; written from the documentation of `jose`, not from the code. */
function strictnessOf(header: Fields, payload: Fields, original: Original): Strictness | undefined {
  const { iat, exp } = payload;
  const isWhole = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 253_402_300_799;
  // JSON omits undefined members.
  const names = Object.keys(header).filter((name) => header[name] !== undefined);
  if (names.some((name) => !['alg', 'kid', 'typ'].includes(name))) return 'a further header';
  if (header['typ'] !== original.header['typ']) return 'another spelling of typ';
  if (header['kid'] === undefined) return 'no kid';
  if (typeof payload['sub'] !== 'string') return 'sub is no text';
  if (payload['sid'] !== original.payload['sid']) return 'sid is no id of a session';
  if (!isWhole(iat)) return 'iat is not in whole seconds of RFC 3339';
  if (!isWhole(exp)) return 'exp is not in whole seconds of RFC 3339';
  return Number(iat) > original.now + 30 ? 'iat in the future' : undefined;
}

/** Texts of header and payload, signed with the right key. */
function* texts({ header, payload, privateKey }: Original): Generator<Variant> {
  const [head, body] = [JSON.stringify(header), JSON.stringify(payload)];
  const ambiguous = 'ambiguous or deeply nested JSON';
  const nested = (depth: number): string => `${body.slice(0, -1)},"n":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const table: readonly (readonly [
    what: string,
    head: string | Buffer,
    body: string | Buffer,
    stricter?: Strictness,
  ])[] = [
    ['spaces', ` ${head}\n`, `\t${body} `],
    ['escaped names', head.replace('"alg"', '"\\u0061lg"'), body.replace('"exp"', '"\\u0065xp"')],
    ['a large payload', head, JSON.stringify({ ...payload, more: 'x'.repeat(200_000) })],
    ['alg twice', head.replace('{', '{"alg":"none",'), body, ambiguous],
    ['kid twice', `${head.slice(0, -1)},"kid":"${String(header['kid'])}"}`, body, ambiguous],
    ['exp twice, the earlier first', head, body.replace('{', '{"exp":1,'), ambiguous],
    ['exp twice, escaped', head, body.replace('{', '{"\\u0065xp":1,'), ambiguous],
    ['a nested name twice', head, body.replace('{', '{"n":{"a":1,"a":1},'), ambiguous],
    ['__proto__', head, body.replace('{', '{"__proto__":{},'), ambiguous],
    ['constructor', head, body.replace('{', '{"constructor":1,'), ambiguous],
    ['a byte order mark', `\uFEFF${head}`, `\uFEFF${body}`, ambiguous],
    ['seven nested lists', head, nested(7)],
    ['eight nested lists', head, nested(8), ambiguous],
    ['a payload in latin1', head, Buffer.from(body.replace('{', '{"n":"é",'), 'latin1')],
    ['a comma at the end', head, `${body.slice(0, -1)},}`],
    ['a byte after the payload', head, `${body}\0`],
    ...['', '[]', `[${body}]`, 'null', '1', 'true', '"x"', '{}', '{', 'x'].flatMap(
      (text) =>
        [
          [`${text} as payload`, head, text],
          [`${text} as header`, text, body],
        ] as const,
    ),
  ];
  for (const [what, first, second, stricter] of table)
    yield { what, token: signed(`${encoded(first)}.${encoded(second)}`, privateKey), stricter };
  const inputs = [
    `${encoded(head)}=.${encoded(body)}`,
    `${encoded(head)}.${encoded(body)}=`,
    `${encoded(head)} .${encoded(body)}`,
  ];
  const base64 = [head, body].map((text) => Buffer.from(text.replace('{', '{"n":"~~~???>>>",')).toString('base64'));
  for (const input of [...inputs, base64.join('.'), `.${encoded(body)}`, `${encoded(head)}.`, '.', encoded(head)])
    yield { what: `signed: ${input}`, token: signed(input, privateKey), stricter: encodingOf(input) };
}

/** @returns a reason unless all parts are canonical base64url (RFC 7515 section 2, RFC 4648 section 3.5) */
function encodingOf(text: string): Strictness | undefined {
  const isCanonical = (part: string): boolean => {
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(part.at(-1) ?? '');
    const unusedBits = [0, undefined, 0b1111, 0b11][part.length % 4];
    return /^[\w-]*$/.test(part) && unusedBits !== undefined && (last & unusedBits) === (part === '' ? unusedBits : 0);
  };
  return text.split('.').every(isCanonical) ? undefined : 'another encoding';
}

/** Tokens of other keys, under the `kid` of the original one. */
function* otherKeys({ header, payload, privateKey, publicKey }: Original): Generator<Variant> {
  const inputFor = (alg: string): string =>
    `${encoded(JSON.stringify({ ...header, alg }))}.${encoded(JSON.stringify(payload))}`;
  const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey;
  const keys: readonly (readonly [alg: string, digest: string | null, key: KeyObject])[] = [
    ['ES256', 'sha256', ec('P-256')],
    ['ES384', 'sha384', ec('P-384')],
    ['ES512', 'sha512', ec('P-521')],
    ['ES256K', 'sha256', ec('secp256k1')],
    ['EdDSA', null, generateKeyPairSync('ed25519').privateKey],
    ['RS256', 'sha256', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['the original', privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256', privateKey],
  ];
  const algs = ['ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA', 'Ed25519', 'RS256', 'PS256', 'HS256', 'none'];
  for (const [own, digest, key] of keys)
    for (const alg of algs) yield { what: `${own} key with alg ${alg}`, token: signed(inputFor(alg), key, digest) };
  for (const alg of algs) {
    for (const secret of ['', publicKey, publicKey.trim()]) {
      const mac = createHmac('sha256', secret).update(inputFor(alg)).digest('base64url');
      yield { what: `a MAC with alg ${alg}`, token: `${inputFor(alg)}.${mac}` };
    }
    for (const end of ['', '.', '.AA', '..', '.AA.AA'])
      yield { what: `alg ${alg} and ${end}`, token: inputFor(alg) + end };
  }
  if (privateKey.asymmetricKeyType !== 'ec') return;
  for (const digest of ['sha1', 'sha384', 'sha512'])
    yield { what: `the right key with ${digest}`, token: signed(inputFor('ES256'), privateKey, digest) };
}

/** One character of the token is changed, removed, added or repeated. */
function* changedCharacters({ header, payload, privateKey }: Original): Generator<Variant> {
  const token = signed(`${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(payload))}`, privateKey);
  const characters = 'AQgw_-.=+/ \n\t\0é'.split('');
  for (let seed = 0; seed < 1_600; seed++) {
    // Half of the changes are in the last part and at its end, where the encoding has several texts.
    const from = seed % 2 === 0 ? 0 : token.lastIndexOf('.');
    const at = seed % 8 === 1 ? token.length - 1 : from + drawn(`at ${seed}`, token.length - from);
    const character = characters[drawn(`character ${seed}`, characters.length)] ?? '';
    const rest = token.slice(at + 1);
    const changes = [
      character + rest,
      rest,
      character + token.slice(at),
      token.slice(at),
      (token[at] ?? '') + token.slice(at),
      '',
    ];
    const changed = token.slice(0, at) + (changes[drawn(`change ${seed}`, changes.length)] ?? '');
    yield { what: `change ${seed}`, token: changed, stricter: changed === token ? undefined : encodingOf(changed) };
  }
  const last = token.at(-1) ?? '';
  for (const end of ['=', '==', '===', '====', '\n', ' ', '\0', '.', 'A', 'AA', 'AAAA', last])
    yield { what: `the token and ${JSON.stringify(end)}`, token: token + end, stricter: encodingOf(token + end) };
  for (const start of [' ', '\n', '.', '\uFEFF', 'Bearer '])
    yield { what: `${JSON.stringify(start)} and the token`, token: start + token, stricter: encodingOf(start + token) };
}

/** The order of the group of P-256 (FIPS 186-5). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Signatures of ECDSA with P-256: two integers of 32 bytes. */
function* changedSignatures({ header, payload, privateKey }: Original): Generator<Variant> {
  const input = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(payload))}`;
  const bytes = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const der = sign('sha256', Buffer.from(input), privateKey);
  const integer = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)].map((half) => BigInt(`0x${half.toString('hex')}`)) as [
    bigint,
    bigint,
  ];
  const values = [0n, 1n, r, s, order - r, order - s, order - 1n, order, order + 1n, 2n ** 256n - 1n];
  for (const [i, first] of values.entries())
    for (const [j, second] of values.entries())
      yield { what: `r ${i}, s ${j}`, token: `${input}.${encoded(Buffer.concat([integer(first), integer(second)]))}` };
  for (let length = 0; length < 64; length++)
    yield { what: `${length} bytes`, token: `${input}.${encoded(bytes.subarray(0, length))}` };
  for (const more of [Buffer.alloc(1), Buffer.alloc(32), bytes]) {
    yield { what: `${more.length} bytes more`, token: `${input}.${encoded(Buffer.concat([bytes, more]))}` };
    yield { what: `${more.length} bytes before`, token: `${input}.${encoded(Buffer.concat([more, bytes]))}` };
  }
  for (const length of [der.length, 64])
    yield { what: `DER, ${length} bytes`, token: `${input}.${encoded(der.subarray(0, length))}` };
  for (let bit = 0; bit < 512; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield { what: `bit ${bit}`, token: `${input}.${encoded(flipped)}` };
  }
}
