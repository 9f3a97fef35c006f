/** Checks of encoded points of Ed25519 (RFC 8032 section 5.1), which OpenSSL does not make. */

const p = 2n ** 255n - 19n;
/** RFC 8032 section 5.1, table 1. */
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
/** The y coordinates of the points whose order divides the cofactor 8. */
const orderEight = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
const smallOrderY: ReadonlySet<bigint> = new Set([0n, 1n, p - 1n, orderEight, p - orderEight]);

/** The y coordinate. The last bit of the encoding is the sign of x. @param point 32 bytes */
const yOf = (point: Uint8Array): bigint =>
  BigInt.asUintN(255, BigInt(`0x${Buffer.from(point.toReversed()).toString('hex')}`));

/**
 * Whether the encoding is canonical and its point on the curve: −x² + y² = 1 + d x² y².
 * @param point 32 bytes
 */
export function isOnEd25519(point: Uint8Array): boolean {
  const y = yOf(point);
  if (y >= p) return false;
  const squared = (y * y) % p;
  // x² = u / v has a solution if u v is a square (Euler's criterion). v is not 0, because −1/d is not a square.
  const uv = ((squared - 1n + p) * (d * squared + 1n)) % p;
  const symbol = power(uv, (p - 1n) / 2n);
  if (symbol === 1n) return true;
  // x = 0 has no sign.
  return symbol === 0n && ((point[31] ?? 0) & 0x80) === 0;
}

/** Whether the order of a point on the curve divides 8. Signatures for such a public key can be forged. */
export const isSmallOrder = (point: Uint8Array): boolean => smallOrderY.has(yOf(point));

/** base^exponent mod p. Public values only: the time depends on them. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}
