/** Concurrent changes, rotations and deletions of one key, through two instances. */
import assert from 'node:assert/strict';
import type { DisabledReason } from '@keyreeve/contract';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { addAccount, addSession, operator } from '../../../../test-kit/rows.ts';
import type { TestDb } from '../../../../test-kit/new-db.ts';
import {
  codeOf,
  onEachDatabase,
  outcomes,
  raceToValues,
  race,
  rivalsMin,
} from '../../../../test-kit/store-on-each-database.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';

const secretsOf = sql<{ count: number }>('test_count_secrets', 'select count(*) as count from api_key_secrets');

/** A key, and the services of an instance for each connection. */
async function fixture(opened: TestDb, clock = new FakeClock()) {
  const wired = new Map<Db, Services>();
  const on = (db: Db): Services => {
    const services = wired.get(db) ?? wireOn(db, { clock });
    wired.set(db, services);
    return services;
  };
  const accountId = await addAccount(opened.db);
  const { id, secret } = await on(opened.db).apiKeys.create(operator, accountId, { nickname: 'a', scopes: ['a', 'b'] });
  const isValid = async (text: string): Promise<boolean> => (await on(opened.db).verifier.verify(text)).valid;
  return { on, clock, accountId, id, secret: secret.reveal(), isValid };
}

onEachDatabase(
  'concurrent rotations leave one previous secret, and the last secret is valid',
  { tags: ['asvs:2.3.4'] },
  async (opened) => {
    const { on, accountId, id, secret, isValid } = await fixture(opened);
    const rotated = await raceToValues(opened, rivalsMin, async (db) => {
      const { key, secret: made } = await on(db).keyChanges.rotate(operator, accountId, id, {
        overlapSeconds: 60,
        endPrevious: true,
      });
      return { revision: key.revision, text: made.reveal() };
    });
    const inOrder = [{ revision: 0, text: secret }, ...rotated.toSorted((a, b) => a.revision - b.revision)];
    assert.deepEqual(
      inOrder.map(({ revision }) => revision),
      inOrder.map((_, index) => index),
    );
    const valid = await Promise.all(inOrder.map(({ text }) => isValid(text)));
    assert.deepEqual(
      valid,
      inOrder.map((_, index) => index >= inOrder.length - 2),
    );
    assert.deepEqual(
      (await opened.db.all(secretsOf)).map(({ count }) => count),
      [1],
    );
    const times = (await listAuditEvents(opened.db)).filter(({ action }) => action === 'api_key.rotated');
    assert.equal(new Set(times.map(({ at }) => at)).size, rivalsMin, 'each change has its own time');
  },
);

onEachDatabase(
  'concurrent rotations with endCurrent leave the previous secret and exactly one current secret valid',
  { tags: ['asvs:2.3.4'] },
  async (opened) => {
    const { on, accountId, id, secret, isValid } = await fixture(opened);
    const lost = await on(opened.db).keyChanges.rotate(operator, accountId, id, {
      overlapSeconds: 60,
      endPrevious: false,
    });
    const rotated = await raceToValues(opened, rivalsMin, async (db) => {
      const { key, secret: made } = await on(db).keyChanges.rotate(operator, accountId, id, { endCurrent: true });
      return { revision: key.revision, previousExpiresAt: key.previousExpiresAt, text: made.reveal() };
    });
    const inOrder = rotated.toSorted((a, b) => a.revision - b.revision);
    assert.deepEqual(
      inOrder.map(({ revision, previousExpiresAt }) => [revision, previousExpiresAt]),
      inOrder.map((_, index) => [index + 2, lost.key.previousExpiresAt]),
    );
    const valid = await Promise.all([secret, lost.secret.reveal(), ...inOrder.map(({ text }) => text)].map(isValid));
    assert.deepEqual(valid, [true, false, ...inOrder.map((_, index) => index === rivalsMin - 1)]);
    assert.deepEqual(
      (await opened.db.all(secretsOf)).map(({ count }) => count),
      [1],
    );
  },
);

onEachDatabase(
  'of concurrent rotations with endCurrent and endings of the previous secret, none leaves no valid secret',
  async (opened) => {
    const { on, accountId, id, isValid } = await fixture(opened);
    const { secret } = await on(opened.db).keyChanges.rotate(operator, accountId, id, {
      overlapSeconds: 60,
      endPrevious: false,
    });
    const made = [{ revision: 1, text: secret.reveal() }];
    const settled = await race(opened, rivalsMin, async (db, rival) => {
      const { keyChanges } = on(db);
      if (rival === rivalsMin / 2) return keyChanges.endPrevious(operator, accountId, id).then(() => 'ended');
      const rotated = await keyChanges.rotate(operator, accountId, id, { endCurrent: true });
      made.push({ revision: rotated.key.revision, text: rotated.secret.reveal() });
      return 'rotated';
    });
    const { ended, rotated = 0, no_overlap_in_progress: late = 0, ...others } = outcomes(settled);
    assert.deepEqual([ended, rotated + late, others], [1, rivalsMin - 1, {}]);
    const inOrder = made.toSorted((a, b) => a.revision - b.revision);
    const valid = await Promise.all(inOrder.map(({ text }) => isValid(text)));
    assert.deepEqual(
      valid,
      inOrder.map((_, index) => index === inOrder.length - 1),
    );
  },
);

onEachDatabase('of concurrent rotations without endPrevious, one succeeds', async (opened) => {
  const { on, accountId, id } = await fixture(opened);
  const settled = await race(opened, rivalsMin, async (db) => {
    await on(db).keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
    return 'rotated';
  });
  assert.deepEqual(outcomes(settled), { rotated: 1, overlap_in_progress: rivalsMin - 1 });
});

onEachDatabase('concurrent changes of different members all apply; of one nickname one succeeds', async (opened) => {
  const { on, accountId, id } = await fixture(opened);
  await raceToValues(opened, rivalsMin, (db, rival) =>
    on(db).keyChanges.change(operator, accountId, id, { metadata: { [`m${rival}`]: rival } }),
  );
  const { metadata, revision } = await on(opened.db).keyChanges.read(accountId, id);
  assert.deepEqual(
    JSON.parse(metadata ?? ''),
    Object.fromEntries(Array.from({ length: rivalsMin }, (_, rival) => [`m${rival}`, rival])),
  );
  assert.equal(revision, rivalsMin);

  const ids = await Promise.all(
    Array.from({ length: rivalsMin }, async (_, rival) => {
      return (await on(opened.db).apiKeys.create(operator, accountId, { nickname: `key ${rival}` })).id;
    }),
  );
  const settled = await race(opened, rivalsMin, async (db, rival) => {
    await on(db).keyChanges.change(operator, accountId, ids[rival] ?? 0, { nickname: 'one' });
    return 'renamed';
  });
  assert.deepEqual(outcomes(settled), { renamed: 1, nickname_taken: rivalsMin - 1 });
});

onEachDatabase('after a deletion, no concurrent change or rotation leaves a valid secret', async (opened) => {
  const { on, accountId, id, secret, isValid } = await fixture(opened);
  const made: string[] = [secret];
  const settled = await race(opened, rivalsMin * 2, async (db, rival) => {
    const { apiKeys, keyChanges } = on(db);
    if (rival === rivalsMin) return apiKeys.delete(operator, accountId, id).then(() => 'deleted');
    if (rival % 4 < 2) {
      await keyChanges.change(operator, accountId, id, { disabled: rival % 8 < 4 });
      return 'changed';
    }
    const rotated = await keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: true });
    made.push(rotated.secret.reveal());
    return 'changed';
  });
  const { deleted, changed = 0, key_not_found: late = 0, ...others } = outcomes(settled);
  assert.deepEqual(others, {});
  assert.equal(deleted, 1);
  assert.equal(changed + late, rivalsMin * 2 - 1);
  assert.deepEqual(
    await Promise.all(made.map(isValid)),
    made.map(() => false),
  );
  assert.deepEqual(
    (await opened.db.all(secretsOf)).map(({ count }) => count),
    [0],
  );
  const actions = (await listAuditEvents(opened.db)).map(({ action }) => action);
  assert.equal(actions.at(-1), 'api_key.deleted');
});

onEachDatabase(
  'a change whose session has ended since its token was checked is rejected',
  { tags: ['asvs:7.4.1'] },
  async (opened) => {
    const { on, accountId, id } = await fixture(opened);
    await addSession(opened.db, accountId, 'one');
    const ada = { kind: 'account', accountId, sessionId: 'ses_one', signedInAt: 0 } as const;
    const { accounts, keyChanges } = on(opened.db);
    await accounts.endSessions(operator, accountId);
    const requests = [
      () => keyChanges.change(ada, accountId, id, { disabled: true }),
      () => keyChanges.rotate(ada, accountId, id, { overlapSeconds: 0, endPrevious: true }),
    ];
    for (const request of requests)
      await assert.rejects(request(), (error) => codeOf(error) === 'invalid_access_token');
    const { revision } = await keyChanges.read(accountId, id);
    assert.equal(revision, 0);
  },
);

onEachDatabase('after a clock was set back, changes have later times and overlaps their length', async (opened) => {
  const { on, clock, accountId, id, secret, isValid } = await fixture(opened);
  const { keyChanges } = on(opened.db);
  const renamed = await keyChanges.change(operator, accountId, id, { nickname: 'b' });
  clock.advance({ days: -1 });
  const request = { overlapSeconds: 60, endPrevious: false };
  const rotated = await keyChanges.rotate(operator, accountId, id, request);
  assert.ok(rotated.key.updatedAt > renamed.updatedAt);
  assert.equal(rotated.key.previousExpiresAt, clock.now() + 60_000);
  const disabled = await keyChanges.change(operator, accountId, id, { disabled: true });
  assert.ok(disabled.updatedAt > rotated.key.updatedAt);
  await keyChanges.change(operator, accountId, id, { disabled: false });
  clock.advance({ seconds: 60 });
  assert.equal(await isValid(secret), false);
  assert.equal(await isValid(rotated.secret.reveal()), true);
});

onEachDatabase('only an administrator or an operator enables a key that one of them disabled', async (opened) => {
  const { on, accountId, id } = await fixture(opened);
  await addSession(opened.db, accountId, 'one');
  const ada = { kind: 'account', accountId, sessionId: 'ses_one' } as const;
  const { keyChanges } = on(opened.db);
  const disable = async (by: typeof ada | typeof operator, disabled: boolean): Promise<DisabledReason | null> =>
    (await keyChanges.change(by, accountId, id, { disabled })).disabledReason;
  assert.equal(await disable(ada, true), 'owner');
  assert.equal(await disable(operator, true), 'administrator');
  assert.equal(await disable(ada, true), 'administrator');
  await assert.rejects(disable(ada, false), (error) => codeOf(error) === 'administrator_required');
  assert.equal(await disable(operator, false), null);
  const actions = (await listAuditEvents(opened.db)).map(({ action }) => action).slice(-3);
  assert.deepEqual(actions, ['api_key.disabled', 'api_key.disabled', 'api_key.enabled']);
});
