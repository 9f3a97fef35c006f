/** What only callers in this process can do with a sign-in from a command line. All libraries have the rules of packages/conformance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';
import { deviceLogin, type DeviceCode } from '../src/device-login.ts';
import { settled } from './held-transport.ts';
import { ManualTimers } from './manual-timers.ts';

const verificationUri = 'https://auth.example.com/console/device';
const code = { device_code: 'krvd_1', user_code: 'WDJB-MJHT', verification_uri: verificationUri, expires_in: 600 };
const key = { access_token: 'krv_1', expires_in: 60, scope: '', key_id: 7, nickname: 'Acme' };
const startServer = () =>
  startRawServer(({ line }, socket) => socket.write(responseOf({ body: line.includes('device') ? code : key })));

test('a sign-in shows the code as the program likes, and uses its fetch', async () => {
  await using server = await startServer();
  const shown: DeviceCode[] = [];
  const timers = new ManualTimers();
  let calls = 0;
  const counted: typeof fetch = (...args) => {
    calls++;
    return fetch(...args);
  };
  const show = (asked: DeviceCode): void => {
    shown.push(asked);
    // The pause begins after this function.
    void settled().then(() => timers.move(5_000));
  };
  const received = await deviceLogin({ url: server.url, clientId: 'acme-cli', show, fetch: counted }, timers);
  const { expiresAt, ...issued } = received;
  assert.equal(inspect(received), 'DeviceKey(7)');
  assert.deepEqual(shown, [{ userCode: 'WDJB-MJHT', verificationUri, link: verificationUri, expiresInSeconds: 600 }]);
  assert.deepEqual(issued, { key: 'krv_1', keyId: 7, nickname: 'Acme', scopes: [] });
  assert.ok(Number.isFinite(Date.parse(expiresAt)));
  assert.equal(calls, 2);
});

test('a sign-in ends with the error of show, and with the reason of the signal also during a request', async () => {
  await using server = await startServer();
  const show = (): never => {
    throw new Error('the terminal is closed');
  };
  await assert.rejects(deviceLogin({ url: server.url, clientId: 'acme-cli', show }), /the terminal is closed/);
  const controller = new AbortController();
  await using silent = await startRawServer(() => controller.abort(new Error('of the program')));
  const { signal } = controller;
  await assert.rejects(deviceLogin({ url: silent.url, clientId: 'acme-cli', signal }), /^Error: of the program$/);
  await assert.rejects(deviceLogin({ url: silent.url, clientId: 'acme-cli', signal }), /^Error: of the program$/);
  assert.equal(silent.requests.length, 1);
});

test('options that cannot lead to a key are errors', async () => {
  await assert.rejects(deviceLogin({ url: 'http://auth.example.com', clientId: 'acme-cli' }), /plain HTTP/);
  for (const clientId of ['', undefined as never])
    await assert.rejects(deviceLogin({ url: 'https://auth.example.com', clientId }), {
      name: 'TypeError',
      message: /^clientId/,
    });
});
