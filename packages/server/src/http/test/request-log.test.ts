/** The log lines of requests that clients repeat. */
import assert from 'node:assert/strict';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../test-kit/assert-problem.ts';
import { basic, bearer, newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';

const environment = { KEYREEVE_LOG_LEVEL: 'info', KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
const times = 30;

type Line = Readonly<Record<string, unknown>>;

/** The lines of the log since the last call, without those of other events. */
function linesOf({ logLines }: Pick<TestApp, 'logLines'>, ...events: readonly string[]): Line[] {
  const lines = logLines.splice(0).map((text) => JSON.parse(text) as Line);
  return lines.filter(({ event }) => events.includes(String(event)));
}

test('responses and rejections that one client repeats are summarised in the log, and those of others are not', async () => {
  const stopped: Pick<TestApp, 'logLines'> = await (async () => {
    await using app = await newApp({ environment });
    const { accessToken } = await app.signIn();
    linesOf(app);
    const from = (clientIp: string) => ({ 'x-forwarded-for': clientIp });
    for (let n = 0; n < times; n++) {
      await app.call('GET', '/nothing', { headers: from(`192.0.2.${n}`) });
      await app.call('GET', '/auth/account', { headers: { ...bearer(accessToken), ...from('192.0.2.1') } });
    }
    const other = await app.call('GET', '/nothing', { headers: from('198.51.100.1') });
    const { requestId } = assertProblem(fromFetch(other), 'not_found');
    const lines = linesOf(app, 'request', 'refused');
    assert.equal(lines.length, 21);
    assert.ok(lines.some((line) => line['requestId'] === requestId));
    return app;
  })();
  const common = { level: 'info', event: 'repeated', method: 'GET', clientRange: '192.0.2.0/24', count: times - 10 };
  assert.deepEqual(
    linesOf(stopped, 'repeated').map(({ time, pid, ...line }) => ({ ...line, isTimed: time !== pid })),
    [
      { ...common, repeated: 'refused', status: 404, code: 'not_found', isTimed: true },
      { ...common, repeated: 'request', route: '/auth/account', status: 200, isTimed: true },
    ],
  );
});

test('requests that are no valid HTTP are summarised as well', async () => {
  await using app = await newApp({ environment });
  for (const bytes of ['nonsense\r\n\r\n', head('GET / HTTP/1.1')])
    for (const url of [app.url, app.service.adminUrl]) for (let n = 0; n < times; n++) await ask(url, bytes);
  const lines = linesOf(app, 'refused');
  // Without a method and with one.
  assert.equal(lines.length, 20);
});

test('each failed sign-in has a line of its own, from which fail2ban counts', async () => {
  await using app = await newApp({ environment });
  const count = 3 * times;
  for (let n = 0; n < count; n++)
    await app.call('POST', '/auth/token', { headers: basic(`unknown${n}@example.com`, 'wrong') });
  const lines = linesOf(app, 'refused', 'sign_in_failed');
  assert.equal(lines.filter(({ event }) => event === 'sign_in_failed').length, count);
  // The line of the rejected request is in addition.
  assert.ok(lines.filter(({ event }) => event === 'refused').length < count);
});
