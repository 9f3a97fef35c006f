/**
 * The pod of `helm test`: the service is ready, and rejects a key that was never created. It creates nothing.
 * Arguments: the URLs of the service and of verifications, and the prefix of keys.
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const [service, verification, prefix] = process.argv.slice(1);
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** With a valid checksum, because the service rejects all others without its database. */
function newKey() {
  const text = `${prefix}_${Array.from(randomBytes(43), (byte) => digits[byte % 62]).join('')}`;
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < 6; index++) {
    checksum = digits[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return text + checksum;
}

async function expectStatus(url, headers, expected) {
  const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  process.stdout.write(`${url}: ${status}, expected ${expected}\n`);
  if (status !== expected) process.exitCode = 1;
}

await expectStatus(`${service}/health/ready`, {}, 200);
await expectStatus(`${verification}/auth/forward`, { authorization: `Bearer ${newKey()}` }, 401);
