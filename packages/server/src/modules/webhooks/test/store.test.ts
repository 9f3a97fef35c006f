/** Webhooks on each database: which events are published, that none is lost, and concurrent instances. */
import assert from 'node:assert/strict';
import { limits, webhookEvents } from '@keyreeve/contract';
import { createAccount } from '../../accounts/store.ts';
import { recordEventTx } from '../../audit/audit.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import type { WebhookJob } from '../publisher.ts';
import { Webhooks } from '../webhooks.ts';
import { codeOf, onEachDatabase, outcomes, race, raceToValues } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, addSession, keys, now, operator } from '../../../../test-kit/rows.ts';
import { endSession } from '../../sessions/store.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

const url = 'https://example.com/hooks';

function newWebhooks(db: Db, clock = new FakeClock(now)): Webhooks {
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal });
  return new Webhooks({ db, clock, revocations: undefined, seal: keys.webhookSeal, outbox, targets: [] });
}

interface Waiting {
  readonly id: string;
  readonly queue: string;
  readonly payload: Uint8Array;
}
const selectWaiting = sql<Waiting>('test_waiting', `select id, queue, payload from outbox where kind = 'webhook'`);
const clear = sql('test_clear_outbox', `delete from outbox`);
const dropProgress = sql('test_drop_progress', `delete from webhook_progress where chain = $1`);

const opened = ({ id, payload }: Waiting): WebhookJob => JSON.parse(keys.outboxSeal.open(id, payload)) as WebhookJob;
const publish = async ({ publisher }: Webhooks): Promise<void> => {
  while (await publisher.poll());
};
interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}
/** @returns the messages that wait for an endpoint */
async function waitingFor(db: Db, endpointId: string): Promise<Message[]> {
  const rows = await db.all(selectWaiting);
  return rows
    .filter(({ queue }) => queue === `webhook:${endpointId}`)
    .map((row) => {
      const message = JSON.parse(opened(row).body) as Message;
      assert.equal(message.id, row.id);
      assert.equal(opened(row).endpointId, endpointId);
      return message;
    });
}
const accountsIn = (messages: readonly Message[]): string[] =>
  messages.map(({ data }) => String(data['accountId'])).toSorted();
const create = (webhooks: Webhooks, events: readonly string[] = ['account.created']) =>
  webhooks.endpoints.create(operator, { url, events });

onEachDatabase('an endpoint receives the events of its types, with ids only', async ({ db }) => {
  const webhooks = newWebhooks(db);
  const all = await create(webhooks, webhookEvents);
  const few = await create(webhooks, ['api_key.created', 'account.disabled']);
  const ada = await addAccount(db, 'ada');
  const key = await addKey(db, ada, 'the “server”');
  await addSession(db, ada, 'one');
  await endSession(db, { principal: operator, now }, 'ses_one');
  await disableAccount(db, { principal: operator, now: now + 1_000 }, ada);
  await publish(webhooks);
  const expected = [
    { type: 'account.created', at: now, data: { accountId: ada } },
    {
      type: 'api_key.created',
      at: now,
      data: { accountId: ada, keyId: key.id, nickname: 'the “server”', createdBy: 'operator' },
    },
    { type: 'session.ended', at: now, data: { accountId: ada, sessionId: 'ses_one' } },
    { type: 'account.disabled', at: now + 1_000, data: { accountId: ada } },
  ].map(({ type, at, data }) => ({ type, timestamp: new Date(at).toISOString(), data }));
  const seen = async (id: string): Promise<object[]> =>
    (await waitingFor(db, id))
      .map(({ type, timestamp, data }) => ({ type, timestamp, data }))
      .toSorted((one, other) => (one.type < other.type ? -1 : 1));
  assert.deepEqual(
    await seen(all.id),
    expected.toSorted((one, other) => (one.type < other.type ? -1 : 1)),
  );
  assert.deepEqual(await seen(few.id), [expected[3], expected[1]]);
  const ids = (await db.all(selectWaiting)).map(({ id }) => id);
  assert.equal(new Set(ids).size, 6);
  for (const id of ids) assert.match(id, /^msg_[0-9A-Za-z]{22}$/);
});

onEachDatabase('an endpoint receives all events since its creation, and none from before', async ({ db }) => {
  const webhooks = newWebhooks(db);
  for (let index = 0; index < 5; index++) await addAccount(db, `before${index}`);
  const { id } = await create(webhooks);
  // More events of one chain than one poll reads, and a few of other chains.
  const ada = await addAccount(db, 'ada');
  for (let index = 0; index <= limits.webhookEventsPerLookMax; index++) {
    await db.transaction((tx) =>
      recordEventTx(tx, {
        at: now,
        principal: operator,
        action: 'account.created',
        accountId: ada,
        details: { index },
      }),
    );
  }
  const others = Array.from({ length: 40 }, (_, index) => `acc_other${index}`);
  for (const name of others) await addAccount(db, name.slice(4));
  await publish(webhooks);
  const messages = await waitingFor(db, id);
  assert.equal(messages.length, 1 + limits.webhookEventsPerLookMax + 1 + others.length);
  assert.deepEqual(
    accountsIn(messages).filter((account) => account !== ada),
    others.toSorted(),
  );
});

onEachDatabase('a rolled back event is never published, and a failed poll loses no event', async ({ db }) => {
  const { id } = await create(newWebhooks(db));
  const event = { at: now, principal: operator, action: 'account.created', accountId: 'acc_ghost' } as const;
  await assert.rejects(
    db.transaction(async (tx) => {
      await recordEventTx(tx, event);
      throw new Error('rolled back');
    }),
  );
  await addAccount(db, 'ada');
  // The commit fails after all writes.
  const breaking = withTransaction(db, (work) =>
    db.transaction(async (tx) => {
      await work(tx);
      throw new Error('not committed');
    }),
  );
  await assert.rejects(newWebhooks(breaking).publisher.poll(), /not committed/);
  assert.deepEqual(await waitingFor(db, id), []);
  await publish(newWebhooks(db));
  assert.deepEqual(accountsIn(await waitingFor(db, id)), ['acc_ada']);
});

onEachDatabase('concurrent publishers publish each event once', async (test) => {
  const { db } = test;
  const { id } = await create(newWebhooks(db));
  const names = Array.from({ length: 30 }, (_, index) => `a${index}`);
  for (const name of names) await addAccount(db, name);
  await raceToValues(test, 16, async (connection) => publish(newWebhooks(connection)));
  assert.deepEqual(accountsIn(await waitingFor(db, id)), names.map((name) => `acc_${name}`).toSorted());
  // After their delivery, no event is published again.
  await db.transaction((tx) => tx.run(clear));
  await raceToValues(test, 16, async (connection) => publish(newWebhooks(connection)));
  assert.deepEqual(await waitingFor(db, id), []);
});

onEachDatabase('an event that is published again has the same id', async ({ db }) => {
  const webhooks = newWebhooks(db);
  const [one, other] = [await create(webhooks), await create(webhooks)];
  await addAccount(db, 'ada');
  await publish(webhooks);
  const before = [...(await waitingFor(db, one.id)), ...(await waitingFor(db, other.id))];
  await db.transaction((tx) => tx.run(clear));
  // As after the restore of an older backup.
  for (let chain = 0; chain <= 32; chain++) await db.transaction((tx) => tx.run(dropProgress, [chain]));
  await publish(newWebhooks(db));
  assert.deepEqual([...(await waitingFor(db, one.id)), ...(await waitingFor(db, other.id))], before);
  assert.notEqual(before[0]?.id, before[1]?.id);
});

onEachDatabase(
  'a disabled endpoint receives no events, and an enabled one receives the events from then on',
  async ({ db }) => {
    const webhooks = newWebhooks(db);
    const { id } = await create(webhooks);
    await addAccount(db, 'before');
    await publish(webhooks);
    assert.equal((await webhooks.endpoints.find(id)).waiting, 1);
    await webhooks.endpoints.disable(operator, id);
    assert.deepEqual(await waitingFor(db, id), []);
    await addAccount(db, 'meanwhile');
    await publish(webhooks);
    await webhooks.endpoints.enable(operator, id);
    await addAccount(db, 'after');
    await publish(webhooks);
    assert.deepEqual(accountsIn(await waitingFor(db, id)), ['acc_after']);
    await webhooks.endpoints.delete(operator, id);
    assert.deepEqual(await db.all(selectWaiting), []);
    await assert.rejects(webhooks.endpoints.find(id), (error) => codeOf(error) === 'webhook_not_found');
  },
);

onEachDatabase(
  'an endpoint that is created concurrently with events misses none that is committed after it',
  async (test) => {
    const { db } = test;
    const webhooks = newWebhooks(db);
    await create(webhooks);
    const settled = await race(test, 16, async (connection, rival) => {
      const mine = newWebhooks(connection);
      if (rival % 2 === 0) {
        await addAccount(connection, `noise${rival}`);
        await publish(mine);
        return undefined;
      }
      const { id } = await create(mine);
      await addAccount(connection, `mine${rival}`);
      return { id, account: `acc_mine${rival}` };
    });
    await publish(webhooks);
    for (const result of settled) {
      assert.equal(result.status, 'fulfilled');
      const value = result.status === 'fulfilled' ? result.value : undefined;
      if (value) assert.ok(accountsIn(await waitingFor(db, value.id)).includes(value.account), value.account);
    }
  },
);

onEachDatabase('the number of endpoints never exceeds its limit', async (test) => {
  const settled = await race(test, limits.webhookEndpointsMax + 12, async (db) => {
    await create(newWebhooks(db));
    return 'created';
  });
  assert.deepEqual(outcomes(settled), { created: limits.webhookEndpointsMax, webhook_limit_reached: 12 });
});

onEachDatabase('a request with an invalid URL or event creates no endpoint', async ({ db }) => {
  const { endpoints } = newWebhooks(db);
  const refused = [
    [{ url: 'http://example.com/', events: ['account.created'] }, 'webhook_url_refused'],
    [{ url: 'https://10.0.0.1/', events: ['account.created'] }, 'webhook_url_refused'],
    [{ url, events: ['account.renamed'] }, 'invalid_request'],
    [{ url, events: ['account.created', 'session.created'] }, 'invalid_request'],
    [{ url, events: [] }, 'invalid_request'],
  ] as const;
  for (const [request, code] of refused) {
    await assert.rejects(
      endpoints.create(operator, request),
      (error) => error instanceof DomainError && error.code === code,
    );
  }
  assert.deepEqual(await endpoints.list(), []);
});

const selectSecret = sql<{ secret: Uint8Array }>('test_secret', `select secret from webhook_endpoints where id = $1`);

onEachDatabase('a secret is sealed for its endpoint', async ({ db }) => {
  const webhooks = newWebhooks(db);
  const { id, secret } = await create(webhooks);
  const stored = Buffer.from((await db.get(selectSecret, [id]))?.secret ?? []);
  assert.equal(stored.includes(secret.reveal()), false);
  assert.equal(stored.includes(Buffer.from(secret.reveal().slice(6), 'base64')), false);
  assert.deepEqual(JSON.parse(keys.webhookSeal.open(id, stored)), { current: secret.reveal() });
  assert.throws(() => keys.webhookSeal.open('whe_other', stored));
  const { secret: next, previousValidUntil } = await webhooks.endpoints.rotateSecret(operator, id);
  const after = Buffer.from((await db.get(selectSecret, [id]))?.secret ?? []);
  assert.deepEqual(JSON.parse(keys.webhookSeal.open(id, after)), {
    current: next.reveal(),
    previous: { secret: secret.reveal(), until: previousValidUntil },
  });
  assert.equal(previousValidUntil, now + limits.webhookSecretOverlapSeconds * 1_000);
});

onEachDatabase('an ended session cannot change an endpoint', async ({ db }) => {
  const { endpoints } = newWebhooks(db);
  const { id } = await endpoints.create(operator, { url, events: ['account.created'] });
  await createAccount(db, operator, {
    id: 'acc_admin',
    email: 'admin@example.com',
    canonicalEmail: 'admin@example.com',
    passwordHash: 'phc',
    role: 'admin',
    now,
  });
  const ended = { kind: 'account', accountId: 'acc_admin', sessionId: 'ses_ended', actsAs: 'administrator' } as const;
  const attempts = [
    endpoints.create(ended, { url, events: ['account.created'] }),
    endpoints.disable(ended, id),
    endpoints.enable(ended, id),
    endpoints.rotateSecret(ended, id),
    endpoints.delete(ended, id),
  ];
  const settled = await Promise.allSettled(attempts);
  assert.deepEqual(outcomes(settled), { invalid_access_token: attempts.length });
  assert.equal((await endpoints.list()).length, 1);
});
