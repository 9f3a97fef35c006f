/** Formats of products that store the algorithms in a form of their own. */
import { base64, hex, readList } from './foreign-encodings.ts';
import { pbkdf2, scrypt, type ForeignFormat, type ParsedHash } from './foreign-format.ts';
import { ForeignHashError, type ForeignScheme } from './foreign-hash.ts';

export const productFormats: readonly ForeignFormat[] = [
  {
    // Keycloak: a credential with `secretData` and `credentialData`, or of the versions before 8.
    pattern: /^(\{\s*".*\})$/s,
    read: ([text = '']) => keycloak(text),
  },
  {
    // Supabase and Hanko, for users of Firebase. `n` is the logarithm.
    pattern:
      /^\$fbscrypt\$v=1,n=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2}),(?:ss=([A-Za-z0-9+/_-]*={0,2}),)?sk=([A-Za-z0-9+/_-]+={0,2})\$([A-Za-z0-9+/_-]+={0,2})\$([A-Za-z0-9+/_-]+={0,2})$/,
    read: ([log, r, p, separator = '', key = '', salt = '', digest = '']) =>
      firebase({ n: 2 ** Number(log), r: Number(r), p: Number(p) }, [key, salt, separator, digest]),
  },
  {
    // Ory Kratos, for users of Firebase.
    pattern:
      /^\$firescrypt\$(ln=\d{1,2},r=\d{1,2},p=\d{1,2})\$([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]*={0,2})\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([list = '', salt = '', digest = '', separator = '', key = '']) => {
      const { ln = 0, r = 0, p = 0 } = readList(list, ['ln', 'r', 'p']);
      return firebase({ n: 2 ** ln, r, p }, [key, salt, separator, digest]);
    },
  },
  {
    // ASP.NET Identity 2: a zero, 16 bytes of salt, 32 bytes of PBKDF2.
    pattern: /^(A[A-P][A-Za-z0-9+/]{64}==)$/,
    read: ([text = '']) => {
      const bytes = base64(text);
      return pbkdf2('sha1', 1_000, bytes.subarray(1, 17), bytes.subarray(17));
    },
  },
  {
    // ASP.NET Identity 3: a one, then the hash function, the rounds and the length of the salt as 32-bit numbers.
    pattern: /^(AQAAAA[A-Za-z0-9+/]{30,250}={0,2})$/,
    read: ([text = '']) => aspNet(base64(text)),
  },
  {
    // Spring: salt and digest in hexadecimal. Before 5.8: 8 bytes of salt and SHA-1.
    pattern: /^\{pbkdf2(@SpringSecurity_v5_8)?\}((?:[0-9a-f]{2}){33,128})$/,
    read: ([isNew, text = '']) => {
      const bytes = hex(text);
      const saltBytes = isNew === undefined ? 8 : 16;
      const [name, rounds] = isNew === undefined ? (['sha1', 185_000] as const) : (['sha256', 310_000] as const);
      return pbkdf2(name, rounds, bytes.subarray(0, saltBytes), bytes.subarray(saltBytes));
    },
  },
  {
    // Spring: the logarithm of N, r and p as a hexadecimal number.
    pattern: /^\{scrypt(?:@SpringSecurity_v5_8)?\}\$([0-9a-f]{1,8})\$([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([number = '', salt = '', digest = '']) => {
      const value = Number.parseInt(number, 16);
      return scrypt([2 ** (value >>> 16), (value >>> 8) & 0xff, value & 0xff], base64(salt), base64(digest));
    },
  },
  {
    // LDAP directories and passlib.
    pattern: /^\{PBKDF2(?:-SHA(1|256|512))?\}(\d{1,9})\$([A-Za-z0-9+/.]+={0,2})\$([A-Za-z0-9+/.]+={0,2})$/i,
    read: ([number = '1', rounds, salt = '', digest = '']) =>
      pbkdf2(`sha${number}`, rounds, base64(salt), base64(digest)),
  },
  {
    // 389 Directory Server: rounds as a 32-bit number, 64 bytes of salt, 256 bytes of PBKDF2.
    pattern: /^\{PBKDF2_SHA256\}([A-Za-z0-9+/]{432})$/i,
    read: ([text = '']) => {
      const bytes = base64(text);
      return pbkdf2('sha256', bytes.readUInt32BE(), bytes.subarray(4, 68), bytes.subarray(68));
    },
  },
  {
    // Atlassian: 16 bytes of salt, 32 bytes of PBKDF2.
    pattern: /^\{PKCS5S2\}([A-Za-z0-9+/]{64})$/,
    read: ([text = '']) => pbkdf2('sha1', 10_000, base64(text).subarray(0, 16), base64(text).subarray(16)),
  },
  {
    // Gitea and Forgejo: the columns `passwd_hash_algo`, `salt` and `passwd`, joined with `$`.
    pattern: /^(pbkdf2|argon2|scrypt)\$(\d+(?:\$\d+){1,4})\$([^$]{10,128})\$((?:[0-9a-f]{2}){16,128})$/,
    read: ([algorithm = '', numbers = '', salt = '', digest = '']) =>
      gitea(algorithm, numbers.split('$').map(Number), salt, hex(digest)),
  },
];

/**
 * Firebase encrypts the signer key of the project with AES-256-CTR under the scrypt hash. The key stream is compared instead
 * of the result, so the signer key is not stored.
 * @param texts signer key, salt, separator of the salt and digest, in base64
 */
function firebase(parameters: Readonly<Record<string, number>>, texts: readonly string[]): ParsedHash {
  const [key = Buffer.of(), salt = Buffer.of(), separator = Buffer.of(), digest = Buffer.of()] = texts.map(base64);
  if (key.length !== digest.length)
    throw new ForeignHashError(`its digest has ${digest.length} bytes, and the signer key ${key.length}`);
  const keyStream = Buffer.from(digest.map((byte, index) => byte ^ (key[index] ?? 0)));
  return { scheme: 'scrypt-firebase', parameters, salt: Buffer.concat([salt, separator]), digest: keyStream };
}

function aspNet(bytes: Buffer): ParsedHash {
  const name = ['sha1', 'sha256', 'sha512'][bytes.readUInt32BE(1)];
  const saltEnd = 13 + bytes.readUInt32BE(9);
  if (name === undefined || saltEnd >= bytes.length) throw new ForeignHashError('it is not one of ASP.NET Identity');
  return pbkdf2(name, bytes.readUInt32BE(5), bytes.subarray(13, saltEnd), bytes.subarray(saltEnd));
}

/** A salt of 10 characters is text; a longer one is hexadecimal. */
function gitea(algorithm: string, numbers: readonly number[], text: string, digest: Buffer): ParsedHash {
  const [first = 0, second = 0, third = 0, bytes = second] = numbers;
  const salt = text.length === 10 ? Buffer.from(text) : hex(text);
  if (bytes !== digest.length) throw new ForeignHashError('its digest does not have the stated length');
  if (algorithm === 'pbkdf2' && numbers.length === 2) return pbkdf2('sha256', first, salt, digest);
  if (algorithm === 'argon2' && numbers.length === 4)
    return { scheme: 'argon2id', parameters: { v: 19, t: first, m: second, p: third }, salt, digest };
  if (algorithm === 'scrypt' && numbers.length === 4) return scrypt([first, second, third], salt, digest);
  throw new ForeignHashError('it is not one of Gitea');
}

type Json = Readonly<Record<string, unknown>>;

function keycloak(text: string): ParsedHash {
  const credential = jsonOf(text);
  // Before version 8, one object.
  const isOld = credential['credentialData'] === undefined;
  const secret = isOld ? credential : jsonOf(credential['secretData']);
  const data = isOld ? credential : jsonOf(credential['credentialData']);
  const value = isOld ? secret['hashedSaltedValue'] : secret['value'];
  const { algorithm, hashIterations: rounds, additionalParameters } = data;
  const { salt } = secret;
  if (
    typeof value !== 'string' ||
    typeof salt !== 'string' ||
    typeof algorithm !== 'string' ||
    typeof rounds !== 'number'
  )
    throw notKeycloak();
  const variant = /^pbkdf2(?:-(sha256|sha512))?$/.exec(algorithm);
  if (variant) return pbkdf2(variant[1] ?? 'sha1', rounds, base64(salt), base64(value));
  if (algorithm !== 'argon2')
    throw new ForeignHashError(`its algorithm ${algorithm.slice(0, 32)} is not one that Keycloak comes with`);
  const type = firstText(additionalParameters, 'type');
  if (!/^(?:id|i|d)$/.test(type)) throw notKeycloak();
  const parameters = {
    v: firstText(additionalParameters, 'version') === '1.0' ? 16 : 19,
    m: Number(firstText(additionalParameters, 'memory')),
    t: rounds,
    p: Number(firstText(additionalParameters, 'parallelism')),
  };
  return { scheme: `argon2${type}` as ForeignScheme, parameters, salt: base64(salt), digest: base64(value) };
}

/** Keycloak's additional parameters are lists of one text each. @returns the text, or an empty one */
function firstText(parameters: unknown, name: string): string {
  const list = typeof parameters === 'object' && parameters !== null ? (parameters as Json)[name] : undefined;
  const [first]: unknown[] = Array.isArray(list) ? list : [list];
  return typeof first === 'string' ? first : '';
}

/** @param value an object, or its text @throws ForeignHashError */
function jsonOf(value: unknown): Json {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    if (typeof parsed === 'object' && parsed !== null) return parsed as Json;
  } catch {
    // Not JSON.
  }
  throw notKeycloak();
}

const notKeycloak = (): ForeignHashError => new ForeignHashError('it is not a password credential of Keycloak');
