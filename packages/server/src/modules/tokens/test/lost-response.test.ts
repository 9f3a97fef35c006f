/** A client that disconnects before the response to its refresh may present the same token again later. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from '../../../foundation/database/sql.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';

const channel = 'http.server.request.start';
const touch = sql('test_touch_sessions', 'update sessions set rotated_at = rotated_at');

/** Resolves when the next request to this port starts. */
function nextRequest(port: number): Promise<void> {
  return new Promise((resolve) => {
    const onStart = (message: unknown): void => {
      const { socket } = message as { socket: Socket };
      if (socket.localPort !== port) return;
      unsubscribe(channel, onStart);
      resolve();
    };
    subscribe(channel, onStart);
  });
}

/** Sends a refresh and closes the connection while a transaction blocks the rotation. */
async function refreshAndDisconnect(app: TestApp, refreshToken: string): Promise<void> {
  const port = Number(new URL(app.url).port);
  const started = nextRequest(port);
  const body = JSON.stringify({ refreshToken });
  await app.db.transaction(async (tx) => {
    await tx.run(touch);
    const client = connect({ port, host: '127.0.0.1' });
    client.write(
      `POST /auth/token/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await started;
    // A reset makes the server's next write fail, even if the server does not read.
    client.resetAndDestroy();
    await once(client, 'close');
  });
}

test('a client that disconnected before the response can refresh again after the grace time', async () => {
  await using app = await newApp();
  const { refreshToken } = await app.signIn();
  const { unanswered } = app.service.services.tokenPairs;
  app.clock.advance({ seconds: 600 });
  await refreshAndDisconnect(app, refreshToken);
  await until('the lost response is recorded', () => unanswered.size > 0);
  app.clock.advance({ seconds: 120 });
  const answer = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal(answer.status, 200, answer.text);
  assert.notEqual((answer.json as { refreshToken: string }).refreshToken, refreshToken);
});

test('a refresh whose response was written is not recorded', async () => {
  await using app = await newApp();
  const { refreshToken } = await app.signIn();
  app.clock.advance({ seconds: 600 });
  assert.equal((await app.call('POST', '/auth/token/refresh', { json: { refreshToken } })).status, 200);
  assert.equal(app.service.services.tokenPairs.unanswered.size, 0);
  app.clock.advance({ seconds: 120 });
  const again = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal((again.json as { code: string }).code, 'refresh_token_reused');
});
