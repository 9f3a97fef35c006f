/**
 * Digests that repeat a hash function many times: sha256-crypt and sha512-crypt (U. Drepper, “Unix crypt using SHA-256 and
 * SHA-512”, 2008), md5-crypt of FreeBSD and Apache, and phpass, which Drupal 7 uses with SHA-512.
 */
import { hash } from 'node:crypto';

type HashName = 'md5' | 'sha256' | 'sha512';

const hashBytes = { md5: 16, sha256: 32, sha512: 64 } as const;
/** crypt(3) adds the salt in all rounds that are no multiple of the first, and the password likewise. */
const saltPeriod = 3;
const passwordPeriod = 7;

const digestOf = (name: HashName, parts: readonly Uint8Array[]): Buffer => hash(name, Buffer.concat(parts), 'buffer');
/** The bytes again and again. */
const filled = (length: number, bytes: Uint8Array): Buffer => Buffer.alloc(length, bytes);

export function shaCrypt(name: 'sha256' | 'sha512', password: Buffer, salt: Uint8Array, rounds: number): Buffer {
  const both = digestOf(name, [password, salt, password]);
  const bits = bitsOf(password.length).map((bit) => (bit === 1 ? both : password));
  const first = digestOf(name, [password, salt, filled(password.length, both), ...bits]);
  const passwordDigest = hash(name, filled(password.length ** 2, password), 'buffer');
  const saltDigest = hash(name, filled(salt.length * (16 + (first[0] ?? 0)), salt), 'buffer');
  const long = { password: filled(password.length, passwordDigest), salt: filled(salt.length, saltDigest) };
  return stretch(name, first, long, rounds);
}

/** @param mark `$1$` or `$apr1$` */
export function md5Crypt(mark: string, password: Buffer, salt: Uint8Array, rounds: number): Buffer {
  const both = digestOf('md5', [password, salt, password]);
  const bits = bitsOf(password.length).map((bit) => (bit === 1 ? Buffer.of(0) : password.subarray(0, 1)));
  const first = digestOf('md5', [password, Buffer.from(mark), salt, filled(password.length, both), ...bits]);
  return stretch('md5', first, { password, salt }, rounds);
}

export function phpass(name: 'md5' | 'sha512', password: Buffer, salt: Uint8Array, rounds: number): Buffer {
  const input = Buffer.concat([Buffer.alloc(hashBytes[name]), password]);
  let digest = digestOf(name, [salt, password]);
  for (let round = 0; round < rounds; round++) {
    input.set(digest);
    digest = hash(name, input, 'buffer');
  }
  return digest;
}

/** The binary digits of a number, the least significant one first. */
const bitsOf = (number: number): number[] =>
  [...number.toString(2)]
    .toReversed()
    .map(Number)
    .filter(() => number > 0);

/** The rounds of crypt(3). Their inputs have eight layouts, which are prepared, because there can be a million rounds. */
function stretch(
  name: HashName,
  first: Buffer,
  { password, salt }: Record<'password' | 'salt', Uint8Array>,
  rounds: number,
): Buffer {
  const place = Buffer.alloc(hashBytes[name]);
  const layoutOf = (isOdd: boolean, hasSalt: boolean, hasPassword: boolean): { input: Buffer; at: number } => {
    const middle = [...(hasSalt ? [salt] : []), ...(hasPassword ? [password] : [])];
    const input = Buffer.concat(isOdd ? [password, ...middle, place] : [place, ...middle, password]);
    return { input, at: isOdd ? input.length - place.length : 0 };
  };
  const sides = [false, true];
  const layouts = sides.map((isOdd) =>
    sides.map((hasSalt) => sides.map((hasPassword) => layoutOf(isOdd, hasSalt, hasPassword))),
  );
  let digest = first;
  for (let round = 0; round < rounds; round++) {
    const layout = layouts[round % 2]?.[Number(round % saltPeriod > 0)]?.[Number(round % passwordPeriod > 0)];
    if (!layout) throw new Error('a round has no layout');
    layout.input.set(digest, layout.at);
    digest = hash(name, layout.input, 'buffer');
  }
  return digest;
}

/** crypt(3) writes the bytes of a digest in another order. @param bytes in the order of the text */
export function fromCryptOrder(name: HashName, bytes: Uint8Array): Buffer {
  const digest = Buffer.alloc(hashBytes[name]);
  for (const [position, index] of orders[name].entries()) digest[index] = bytes[position] ?? 0;
  return digest;
}

/** Each group of three bytes is one of the digest's thirds each; the thirds take turns. */
const group = (index: number, third: number, turn: number): number[] => {
  const places = [index, index + third, index + 2 * third];
  return [2, 1, 0].map((place) => places[(place + turn) % 3] ?? 0);
};
const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const orders: Readonly<Record<HashName, readonly number[]>> = {
  md5: [12, 6, 0, 13, 7, 1, 14, 8, 2, 15, 9, 3, 5, 10, 4, 11],
  sha256: [...indexes(10).flatMap((index) => group(index, 10, 2 * index)), 30, 31],
  sha512: [...indexes(21).flatMap((index) => group(index, 21, index)), 63],
};
