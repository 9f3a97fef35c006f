/** Changes of the URL and the events of an endpoint: what the receivers at both URLs get, and with which signatures. */
import assert from 'node:assert/strict';
import { Webhook as Verifier } from 'standardwebhooks';
import { type ChangedWebhook, type WebhookTest } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { newReceiver, type Received } from '../../../../test-kit/webhook-receiver.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { insertJobTx, listJobs } from '../../outbox/store.ts';
import type { StoredSecret } from '../sender.ts';
import { changeEndpointTx, findEndpoint, queueOf, recordDelivery, recordFailure } from '../store.ts';
import { Webhooks } from '../webhooks.ts';
import { create, read } from './endpoint-requests.ts';

const newWebhooks = (db: Db, outbox: Outbox): Webhooks =>
  new Webhooks({
    db,
    clock: new FakeClock(now),
    revocations: undefined,
    seal: keys.webhookSeal,
    outbox,
    targets: [],
  });
const newOutbox = (db: Db): Outbox => new Outbox({ db, clock: new FakeClock(now), seal: keys.outboxSeal });
const first = { url: 'https://example.com/', events: ['account.created', 'account.deleted'] };

async function secretsOf(db: Db, id: string): Promise<StoredSecret> {
  const row = await findEndpoint(db, id);
  assert.ok(row);
  return JSON.parse(keys.webhookSeal.open(id, row.secret)) as StoredSecret;
}

onEachDatabase(
  'other events keep the secret, a new URL replaces it without an overlap, equal values change nothing',
  async ({ db }) => {
    const { endpoints } = newWebhooks(db, newOutbox(db));
    const { id, secret } = await endpoints.create(operator, first);
    await endpoints.rotateSecret(operator, id);
    const before = await secretsOf(db, id);
    assert.equal(before.previous?.secret, secret.reveal());
    const changes = [
      [{ events: ['account.deleted', 'account.created'] }, undefined],
      [{ url: 'https://EXAMPLE.com' }, undefined],
      [
        { events: ['account.created', 'account.enabled'] },
        { hasNewUrl: false, events: ['account.created', 'account.enabled'], narrowed: ['events'] },
      ],
      [
        { events: ['account.created', 'account.enabled', 'account.disabled'] },
        { hasNewUrl: false, events: ['account.created', 'account.disabled', 'account.enabled'], narrowed: [] },
      ],
    ] as const;
    for (const [change] of changes) {
      assert.equal((await endpoints.change(operator, id, change)).secret, undefined);
      assert.deepEqual(await secretsOf(db, id), before);
    }
    const moved = await endpoints.change(operator, id, { url: 'https://example.org/' });
    assert.deepEqual(await secretsOf(db, id), { current: moved.secret?.reveal() });
    assert.deepEqual([moved.endpoint.url, moved.endpoint.events.length], ['https://example.org/', 3]);
    const recorded = (await listAuditEvents(db)).filter(({ action }) => action === 'webhook.updated');
    assert.deepEqual(
      recorded.map(({ details, target }) => [target, JSON.parse(details ?? '')]),
      [...changes.flatMap(([, details]) => details ?? []), { hasNewUrl: true, narrowed: ['url'] }].map((details) => [
        id,
        details,
      ]),
    );
  },
);

onEachDatabase('a new URL starts without results and with all waiting deliveries due', async ({ db }) => {
  const outbox = newOutbox(db);
  const { endpoints } = newWebhooks(db, outbox);
  const { id, url } = await endpoints.create(operator, first);
  const other = await endpoints.create(operator, first);
  const later = now + 3_600_000;
  for (const endpointId of [id, other.id])
    await db.transaction((tx) =>
      insertJobTx(tx, { ...outbox.prepare('webhook', queueOf(endpointId), {}), dueAt: later }),
    );
  await recordDelivery(db, { id, url }, now);
  for (const at of [now + 1, now + 2]) await recordFailure(db, { id, url }, at, 'it answered 503');
  const failing = await endpoints.find(id);
  assert.deepEqual([failing.failingSince, failing.lastFailedAt, failing.nextAttemptAt], [now + 1, now + 2, later]);
  const { endpoint } = await endpoints.change(operator, id, { url: 'https://example.org/' });
  const { failingSince, lastDeliveredAt, lastFailedAt, lastFailure, nextAttemptAt, waiting } = endpoint;
  assert.deepEqual([failingSince, lastDeliveredAt, lastFailedAt, lastFailure], [null, null, null, null]);
  assert.deepEqual([nextAttemptAt, waiting], [now, 1]);
  const due = await listJobs(db, { kind: '', isFailing: undefined }, { after: '', searchedMax: 9, limit: 9 });
  assert.deepEqual(Object.fromEntries(due.map(({ queue, dueAt }) => [queue, dueAt])), {
    [queueOf(id)]: now,
    [queueOf(other.id)]: later,
  });
  // The end of an attempt that was sent to the earlier URL.
  await recordFailure(db, { id, url }, now + 3, 'it answered 503');
  await recordDelivery(db, { id, url }, now + 4);
  const afterwards = await endpoints.find(id);
  assert.deepEqual([afterwards.failingSince, afterwards.lastDeliveredAt, afterwards.lastFailedAt], [null, null, null]);
});

onEachDatabase('of concurrent changes, URL and secret of one are stored', async (opened) => {
  const { endpoints } = newWebhooks(opened.db, newOutbox(opened.db));
  const { id } = await endpoints.create(operator, first);
  const secretOf = (rival: number): Buffer => keys.webhookSeal.seal(id, JSON.stringify({ current: `secret ${rival}` }));
  await raceToValues(opened, rivalsMin, (db, rival) =>
    db.transaction((tx) =>
      changeEndpointTx(
        tx,
        { principal: operator, now: now + rival },
        { id, url: `https://example.com/${rival}`, secret: secretOf(rival) },
      ),
    ),
  );
  const row = await findEndpoint(opened.db, id);
  const { current } = await secretsOf(opened.db, id);
  assert.equal(row?.url, `https://example.com/${current.replace('secret ', '')}`);
});

const start = (): Promise<TestApp> =>
  newApp({ environment: { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' }, clock: new FakeClock(Date.now()) });

async function patch(app: TestApp, admin: SignedIn, id: string, json: object): Promise<ChangedWebhook> {
  const answer = await administer(app, admin, 'PATCH', `webhooks/${id}`, json);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as ChangedWebhook;
}

const isSignedWith = ({ headers, body }: Received, secret: string): boolean => {
  try {
    new Verifier(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

testOnBoth('waiting deliveries go to a new URL with the same ids, signed with the new secret only', async () => {
  await using before = await newReceiver();
  await using after = await newReceiver();
  before.answer = (_, response) => void response.writeHead(500).end();
  await using app = await start();
  const admin = await newAdministrator(app);
  const { id, secret: earlier } = await create(app, admin, before.url);
  await app.createAccount();
  await until('the first attempt has failed', async () => (await read(app, admin, id)).failingSince !== null);
  const { webhook, secret } = await patch(app, admin, id, { url: after.url });
  assert.ok(secret !== null && secret !== earlier);
  assert.deepEqual([webhook.url, webhook.waiting, webhook.failingSince], [after.url, 1, null]);
  await app.createAccount('later@example.com');
  const received = await after.until(2);
  assert.ok(received.every((request) => isSignedWith(request, secret) && !isSignedWith(request, earlier)));
  assert.ok(received.some(({ headers }) => headers['webhook-id'] === before.received[0]?.headers['webhook-id']));
  await until('none waits', async () => (await read(app, admin, id)).waiting === 0);
  assert.equal(before.received.length, 1);
  assert.ok(before.received.every((request) => isSignedWith(request, earlier)));
  const test = (await administer(app, admin, 'POST', `webhooks/${id}/test`)).json as WebhookTest;
  assert.ok(test.delivered && after.received.length === 3 && isSignedWith(after.received[2]!, secret));
  for (const text of [earlier, secret]) assert.ok(!app.logLines.join('').includes(text));
});

testOnBoth('a 410 of the earlier URL does not disable the new one, which gets the delivery', async () => {
  await using before = await newReceiver();
  await using after = await newReceiver();
  const { promise: isChanged, resolve: end } = Promise.withResolvers<void>();
  before.answer = (_, response) => void isChanged.then(() => response.writeHead(410).end());
  await using app = await start();
  const admin = await newAdministrator(app);
  const { id } = await create(app, admin, before.url);
  await app.createAccount();
  await before.until(1);
  const { secret } = await patch(app, admin, id, { url: after.url });
  end();
  const { counts } = app.service.services.webhooks.sender;
  await until('the attempt has ended', () => counts.failed === 1);
  const isPutOff = async (): Promise<boolean> =>
    Date.parse((await read(app, admin, id)).nextAttemptAt ?? '') > app.clock.now();
  await until('the delivery is put off', isPutOff);
  app.clock.advance({ seconds: 5 });
  await after.until(1);
  assert.ok(isSignedWith(after.received[0]!, secret!));
  assert.equal((await read(app, admin, id)).disabledAt, null);
});
