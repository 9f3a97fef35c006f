/** Base32 (RFC 4648 section 6) without padding. */
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function encode(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => digits.charAt(Number.parseInt(group.padEnd(5, '0'), 2))).join('');
}
