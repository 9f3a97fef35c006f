/** Which requests are recorded as spans, and what the spans contain. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test as testOnce } from 'node:test';
import { test, testOnBoth } from '../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../test-kit/audit-log.ts';
import { KeptConnection } from '../../../test-kit/kept-connection.ts';
import { basic, bearer, goodPassword, newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { newAdministrator } from '../../../test-kit/administrators.ts';
import { FakeClock } from '../../../test-kit/fake-clock.ts';
import { Mailbox } from '../../../test-kit/mailbox.ts';
import { until } from '../../../test-kit/until.ts';
import { newReceiver } from '../../../test-kit/webhook-receiver.ts';
import { RecordedSpans } from '../../../test-kit/recorded-spans.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${parentId}-01`;
const notSampled = `00-${traceId}-${parentId}-00`;
const trusting = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };

const newTrace = (): string => randomBytes(16).toString('hex');
const traced = (id: string): { traceparent: string } => ({ traceparent: `00-${id}-${parentId}-01` });

async function newKey(app: TestApp): Promise<string> {
  const { accessToken } = await app.signIn();
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'a' } });
  return (created.json as { key: string }).key;
}

test('a request of a trusted proxy is recorded if the flag sampled is set, on both paths of a connection', async () => {
  await using app = await newApp({ environment: trusting });
  const key = await newKey(app);
  using spans = new RecordedSpans();
  using connection = new KeptConnection(Number(new URL(app.url).port));
  const ask = (flag: string): Promise<string> =>
    connection.ask(
      `GET /auth/forward HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\ntraceparent: 00-${traceId}-${parentId}-${flag}\r\n\r\n`,
    );
  // node:http answers the first two requests, and the short path those after them.
  for (const flag of ['01', '00', '03', '01']) assert.match(await ask(flag), /^HTTP\/1.1 200 /);
  const servers = spans.named('GET /auth/forward');
  assert.equal(servers.length, 3);
  for (const server of servers) {
    assert.deepEqual(
      { ...server, spanId: '', startMs: 0, endMs: 0 },
      {
        name: 'GET /auth/forward',
        kind: 'server',
        traceId,
        spanId: '',
        parentId,
        isParentRemote: true,
        startMs: 0,
        endMs: 0,
        attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200, 'http.route': '/auth/forward' },
        links: [],
        droppedLinks: 0,
        hasFailed: false,
      },
    );
    assert.ok(server.startMs <= server.endMs && Math.abs(server.startMs - Date.now()) < 60_000);
    assert.deepEqual(spans.childrenOf(server), ['verify']);
    const verify = spans.named('verify').find((span) => span.parentId === server.spanId);
    assert.ok(verify);
    assert.deepEqual(verify.attributes, { 'keyreeve.verification.reason': 'api_key' });
    assert.deepEqual(spans.childrenOf(verify), ['db.read']);
    const read = spans.named('db.read').find((span) => span.parentId === verify.spanId);
    assert.deepEqual(read?.links, [{ traceId, spanId: verify.spanId }]);
    assert.deepEqual(read.attributes, { 'db.operation.batch.size': 1 });
  }
  assert.equal(spans.all.length, 9);
});

test('a client that no trusted proxy has forwarded cannot switch on spans', async () => {
  await using app = await newApp();
  using spans = new RecordedSpans();
  for (const path of ['/auth/forward', '/auth/api-keys', '/nowhere'])
    await app.call('GET', path, { headers: { traceparent: sampled } });
  assert.deepEqual(spans.all, []);
});

test('with a ratio, a request of an untrusted client is in a new trace, and a trusted proxy can still decide against it', async () => {
  await using app = await newApp({ environment: { KEYREEVE_TRACE_RATIO: '1' } });
  await using proxied = await newApp({ environment: { ...trusting, KEYREEVE_TRACE_RATIO: '1' } });
  using spans = new RecordedSpans();
  await proxied.call('GET', '/auth/api-keys', { headers: { traceparent: notSampled } });
  assert.deepEqual(spans.all, []);
  await app.call('GET', '/auth/api-keys', { headers: { traceparent: sampled } });
  const [server] = spans.named('GET /auth/api-keys');
  assert.ok(server);
  assert.notEqual(server.traceId, traceId);
  assert.deepEqual([server.parentId, server.links], [undefined, [{ traceId, spanId: parentId }]]);
  // Without a traceparent, the log and the problem document have the id of the recorded trace.
  const { json } = await app.call('GET', '/auth/api-keys');
  const [, second] = spans.named('GET /auth/api-keys');
  assert.equal((json as { traceId: string }).traceId, second?.traceId);
});

test('the spans of a sign-in show the hash and the commit; a refusal has its code, and a failure fails', async () => {
  await using app = await newApp({ environment: trusting });
  const { email } = await app.createAccount();
  using spans = new RecordedSpans();
  const headers = { ...basic(email, goodPassword), traceparent: sampled };
  assert.equal((await app.call('POST', '/auth/token', { headers })).status, 200);
  const [server] = spans.named('POST /auth/token');
  assert.ok(server);
  assert.deepEqual(
    [...new Set(spans.childrenOf(server))].toSorted(),
    ['db.commit', 'hash', 'hash wait'],
    'children of the request',
  );
  const [wait, hash] = [spans.named('hash wait')[0], spans.named('hash')[0]];
  assert.equal(wait?.endMs, hash?.startMs);
  assert.ok(spans.all.every((span) => span.traceId === traceId));

  spans.all.length = 0;
  await app.call('GET', '/auth/forward', { headers: { ...bearer('krv_nothing'), traceparent: sampled } });
  const [refused] = spans.named('GET /auth/forward');
  assert.deepEqual(refused?.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 401,
    'http.route': '/auth/forward',
    'keyreeve.problem.code': 'invalid_credential',
  });
  assert.equal(refused.hasFailed, false);
  await app.call('GET', '/nowhere/secret', { headers: { traceparent: sampled } });
  assert.deepEqual(spans.named('GET')[0]?.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 404,
    'keyreeve.problem.code': 'not_found',
  });
});

testOnBoth('requests that share commits have only their own spans and trace ids, and others have none', async () => {
  await using app = await newApp({ environment: trusting });
  const owners = await Promise.all(Array.from({ length: 24 }, () => app.signIn()));
  using spans = new RecordedSpans();
  // A third is recorded, a third has a trace that is not recorded, and a third has no trace.
  const traces = owners.map((_, index) => (index % 3 === 2 ? undefined : newTrace()));
  await Promise.all(
    owners.map(async ({ accessToken }, index) => {
      const id = traces[index];
      const flag = index % 3 === 0 ? '01' : '00';
      const headers = {
        ...bearer(accessToken),
        ...(id === undefined ? {} : { traceparent: `00-${id}-${parentId}-${flag}` }),
      };
      const { status } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } });
      assert.equal(status, 201);
    }),
  );
  const recorded = traces.flatMap((id, index) => (id !== undefined && index % 3 === 0 ? [id] : []));
  const commits = spans.named('db.commit');
  assert.deepEqual(commits.map((commit) => commit.traceId).toSorted(), recorded.toSorted());
  for (const commit of commits) {
    const server = spans.named('POST /auth/api-keys').find(({ spanId }) => spanId === commit.parentId);
    assert.equal(server?.traceId, commit.traceId);
  }
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'api_key.created');
  const byAccount = new Map(
    events.map(({ accountId, details }) => [accountId, (JSON.parse(details ?? '{}') as { traceId?: string }).traceId]),
  );
  assert.deepEqual(
    owners.map(({ account }) => byAccount.get(account.id)),
    traces,
  );
});

test('the audit events of a request have its trace id only if a trusted proxy has sent it', async () => {
  const actions = async (environment: Readonly<Record<string, string>>): Promise<(string | undefined)[]> => {
    await using app = await newApp({ environment });
    const { email } = await app.createAccount();
    const headers = { ...basic(email, goodPassword), traceparent: notSampled };
    assert.equal((await app.call('POST', '/auth/token', { headers })).status, 200);
    const events = await listAuditEvents(app.db);
    return events.map(({ action, details }) => `${action} ${details?.includes(`"traceId":"${traceId}"`) ?? false}`);
  };
  assert.ok((await actions(trusting)).includes('session.created true'));
  assert.ok((await actions({})).includes('session.created false'));
  assert.ok((await actions(trusting)).includes('account.created false'));
});

testOnce('a recorded request does not record what it has started and what continues after it', async () => {
  await using app = await newApp({ environment: trusting });
  const key = await newKey(app);
  using spans = new RecordedSpans();
  await app.call('GET', '/auth/forward', { headers: { ...bearer(key), ...traced(traceId) } });
  const recorded = spans.all.length;
  // Writes the time of last use, which the request has recorded.
  await app.service.services.uses.flush();
  assert.equal(spans.all.length, recorded);
});

test('the jobs and the mail of a recorded request belong to its trace, whether the account exists or not', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: { ...mailbox.environment, ...trusting, KEYREEVE_SIGNUP: 'open' } });
  const { email: existing } = await app.createAccount();
  using spans = new RecordedSpans();
  const signUp = async (email: string, id: string): Promise<string[]> => {
    const options = { headers: traced(id), json: { email, password: goodPassword } };
    assert.equal((await app.call('POST', '/auth/accounts', options)).status, 202);
    const inTrace = (): typeof spans.all => spans.all.filter((span) => span.traceId === id);
    await until('the mail', () => inTrace().some(({ name }) => name === 'mail'));
    const server = inTrace().find(({ name }) => name === 'POST /auth/accounts');
    const job = inTrace().find(({ name }) => name === 'sign_up');
    const mail = inTrace().find(({ name }) => name === 'mail');
    assert.deepEqual(
      [job?.parentId, mail?.parentId, mail?.kind, mail?.attributes],
      [server?.spanId, job?.spanId, 'client', { 'keyreeve.job.attempt': 1 }],
    );
    return inTrace().map((span) => `${span.name} of ${spans.all.find(({ spanId }) => spanId === span.parentId)?.name}`);
  };
  const [unknown, known] = [await signUp('new@example.com', newTrace()), await signUp(existing, newTrace())];
  assert.deepEqual(unknown.toSorted(), known.toSorted());
  for (const span of spans.all) assert.doesNotMatch(JSON.stringify(span), /example\.com|127\.0\.0\.1/);
});

testOnce('a delivery is recorded by the ratio, and its receiver gets no trace', async () => {
  await using receiver = await newReceiver();
  const environment = { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8', KEYREEVE_TRACE_RATIO: '1' };
  await using app = await newApp({ environment, clock: new FakeClock(Date.now()) });
  const admin = await newAdministrator(app);
  using spans = new RecordedSpans();
  const json = { url: receiver.url, events: ['account.created'] };
  const created = await app.call('POST', '/admin/webhooks', { headers: bearer(admin.accessToken), json });
  assert.equal(created.status, 201, created.text);
  await app.createAccount();
  const [delivery] = await receiver.until(1);
  assert.deepEqual(
    Object.keys(delivery?.headers ?? {}).filter((name) => name.startsWith('trace')),
    [],
  );
  await until('the span', () => spans.named('webhook').length > 0);
  const [webhook] = spans.named('webhook');
  assert.deepEqual([webhook?.parentId, webhook?.hasFailed], [undefined, false]);
  assert.equal(JSON.stringify(spans.all).includes(receiver.url), false);
});
