/** What only the published class for Node does: its key from a file, certificates of an own authority, and a `fetch` of the program. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { tls } from '../../server/test-kit/tls.ts';
import { Keyreeve as FetchKeyreeve } from '../src/fetch.ts';
import { Keyreeve, type KeyreeveOptions, type VerificationResult } from '../src/node.ts';

const serviceKey = 'krv_service';
const accepted = { valid: true, type: 'api_key', accountId: 'acc_1' };
const startService = () => startRawServer((_, socket) => socket.write(responseOf({ results: [accepted] })));
const quiet = { log: () => undefined };

/** Again if no result came within the deadline. */
async function verify(client: Keyreeve): Promise<VerificationResult> {
  for (;;)
    try {
      return await client.verify('key', { cost: 0 });
    } catch (error) {
      if (!String(error).includes('no result')) throw error;
    }
}

test('a service key in a file can change in a running process', async () => {
  await using server = await startService();
  using folder = newTempFolder();
  const serviceKeyFile = join(folder.path, 'key');
  writeFileSync(serviceKeyFile, 'krv_first\n');
  const client = new Keyreeve({ url: server.url, serviceKeyFile, ...quiet });
  await verify(client);
  writeFileSync(serviceKeyFile, 'krv_second');
  await verify(client);
  client.close();
  const sent = server.requests.map(({ headers }) => headers.get('authorization'));
  assert.deepEqual([sent[0], sent.at(-1)], ['Bearer krv_first', 'Bearer krv_second']);
  const missing = new Keyreeve({ url: server.url, serviceKeyFile: join(folder.path, 'missing'), ...quiet });
  await assert.rejects(missing.verify('key'), { name: 'KeyreeveUnavailable', message: /ENOENT/ });
});

test('requests use the certificates of an own authority', async () => {
  const server = createServer(tls, (_, response) => response.end(JSON.stringify({ results: [accepted] })));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const options = { url: `https://localhost:${(server.address() as AddressInfo).port}`, serviceKey, ...quiet };
  const client = new Keyreeve({ ...options, ca: tls.cert.toString() });
  assert.equal((await verify(client)).valid, true);
  client.close();
  await assert.rejects(verify(new Keyreeve(options)), /certificate/);
  await new Promise((resolve) => void server.close(resolve));
});

test('requests use the fetch of the program', async () => {
  await using server = await startService();
  let calls = 0;
  const counted: typeof fetch = (...args) => {
    calls++;
    return fetch(...args);
  };
  for (const Client of [Keyreeve, FetchKeyreeve])
    assert.equal((await verify(new Client({ url: server.url, serviceKey, fetch: counted, ...quiet }))).valid, true);
  assert.ok(calls >= 2, `${calls}`);
});

test('the message has the cause of a failed connection', async () => {
  for (const more of [{}, { fetch }]) {
    const logged: string[] = [];
    const log = (message: string): void => void logged.push(message);
    const client = new Keyreeve({ url: 'http://127.0.0.1:1', serviceKey, log, ...more });
    // `fetch` refuses port 1 itself.
    const message = 'fetch' in more ? /bad port/ : /no response: connect ECONNREFUSED 127\.0\.0\.1:1$/;
    await assert.rejects(client.verify('key'), { message });
    assert.match(logged.join(), /^Keyreeve is unavailable: .* \(1 verification failed\)$/);
  }
});

test('options that do not fit each other, or the runtime, are errors', () => {
  const url = 'https://auth.example.com';
  const wrong: [typeof Keyreeve, Omit<KeyreeveOptions, 'url'>, RegExp][] = [
    [Keyreeve, {}, /^serviceKey: expected/],
    [Keyreeve, { serviceKey, serviceKeyFile: 'a' }, /^serviceKey: expected none/],
    [Keyreeve, { serviceKey, ca: 'a', fetch }, /^ca: only Node/],
    [FetchKeyreeve, { serviceKey, ca: 'a' }, /^ca: only Node/],
    [FetchKeyreeve, { serviceKeyFile: 'a' }, /^serviceKeyFile: only Node/],
  ];
  for (const [Client, options, message] of wrong)
    assert.throws(() => new Client({ url, ...options }), { name: 'TypeError', message });
});
