/** A sign-in and a sign-out of a client library with a real service (see check-device-login.ts), of which one response is lost. */
import assert from 'node:assert/strict';
import { newDeviceClient, program as declared } from '../server/test-kit/device-client.ts';
import { until } from '../server/test-kit/until.ts';
import { pollMsMax } from './check-device-login.ts';
import type { LibraryProgram } from './library-program.ts';
import { responseOf, startRawServer, type RecordedRequest } from './replay-server.ts';

/** With a real service: a person approves, the first response with the key is lost, the next one has another secret, and a logout ends it. */
export async function checkRealLogin(program: LibraryProgram): Promise<void> {
  await using at = await newDeviceClient();
  const lost: string[] = [];
  await using proxy = await startRawServer((request, socket) => {
    void forward(request, at.app.url).then(([status, text]) => {
      const { access_token: key } = JSON.parse(text) as { access_token?: string };
      if (key !== undefined && lost.push(key) === 1) socket.end();
      else socket.write(responseOf({ status, body: text }));
    });
  });
  const printed = program.errors.length;
  const name = await program.startLogin({ url: proxy.url, clientId: declared.id, scopes: ['orders:read'] });
  let isOver = false;
  const outcome = program.key(name).finally(() => (isOver = true));
  await until('the login has printed the code', () => /\n {2}[B-Z]{4}-[B-Z]{4}\n/.test(program.errors.slice(printed)));
  const [, code = ''] = /\n {2}([B-Z]{4}-[B-Z]{4})\n/.exec(program.errors.slice(printed)) ?? [];
  await at.approve(code, { nickname: 'laptop' });
  await until('the login has ended', async () => {
    const [ms = 0] = await program.waits(name);
    // The poll has not been answered.
    if (ms === pollMsMax) return false;
    at.app.clock.advance({ seconds: ms / 1_000 });
    await program.moveClock(name, ms);
    return isOver;
  });
  const { key, failure } = await outcome;
  assert.equal(failure, undefined);
  assert.deepEqual([key?.nickname, key?.scopes], ['laptop', ['orders:read']]);
  assert.deepEqual([lost.length, lost[1]], [2, key?.key]);
  assert.deepEqual(await Promise.all(lost.map((secret) => at.isAccepted(secret))), [false, true]);
  const held = { url: at.app.url, clientId: declared.id, key: key?.key ?? '' };
  for (let times = 0; times < 2; times++) assert.equal(await program.logOut(held), undefined);
  assert.equal(await at.isAccepted(held.key), false);
}

async function forward({ line, headers, body }: RecordedRequest, url: string): Promise<[status: number, text: string]> {
  const [, path = ''] = /^POST (\S+) /.exec(line) ?? [];
  const type = { 'content-type': headers.get('content-type') ?? '' };
  const response = await fetch(new URL(path, url), { method: 'POST', headers: type, body });
  return [response.status, await response.text()];
}
