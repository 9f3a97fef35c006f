/** Ending leaked secrets: short-lived secrets, concurrent changes of the keys, and unknown outcomes. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import type { TestDb } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, keys, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { noIdentity } from '../../api-keys/client-identity.ts';
import { makeKey } from '../../api-keys/key-format.ts';
import { readJournal } from '../../deletion-journal/files.ts';
import { insertShortLivedTx } from '../../short-lived-secrets/store.ts';
import { deleteAccount } from '../../../../test-kit/store-changes.ts';

const possessor = { kind: 'possessor', from: null } as const;
const overlap = { overlapSeconds: 60, endPrevious: true } as const;

const outcomeOf = ({ verifier }: Services, key: string): Promise<unknown> =>
  verifier.verify(key).then((result) => (result.valid ? 'valid' : result.code), codeOf);

const textsOf = (texts: readonly string[]) => texts.map((text) => ({ text }));

const leaksIn = async (db: Db) => (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.leaked');

onEachDatabase('a reported short-lived secret ends alone, and only once', async ({ db }) => {
  const services = wireOn(db);
  await addAccount(db);
  const { id, hash } = await addKey(db, 'acc_ada', 'public', {
    identity: { ...noIdentity, publicKey: '{}' },
    hint: null,
  });
  const now = new FakeClock().now();
  const texts = [makeKey('krvt').reveal(), makeKey('krvt').reveal()];
  await db.transaction(async (tx) => {
    for (const text of texts)
      assert.ok(
        await insertShortLivedTx(tx, {
          hash: keys.apiKeyHash.stored(text),
          keyId: id,
          issuedBy: lookupOf(hash),
          assertionId: text,
          now,
          expiresAt: now + 600_000,
        }),
      );
  });
  for (const text of texts) assert.equal(await outcomeOf(services, text), 'valid');
  const before = await services.keyChanges.read('acc_ada', id);
  assert.deepEqual(await services.leaks.report(operator, textsOf([texts[0]!, 'x', texts[0]!])), [
    'short_lived',
    'unknown',
    'short_lived',
  ]);
  assert.notEqual(await outcomeOf(services, texts[0]!), 'valid');
  assert.equal(await outcomeOf(services, texts[1]!), 'valid');
  assert.deepEqual(await services.keyChanges.read('acc_ada', id), before, 'the key does not change');
  assert.deepEqual(await services.leaks.report(operator, textsOf([texts[0]!])), ['unknown']);
  const [event, ...others] = await leaksIn(db);
  assert.deepEqual([event?.actor, event?.target, others], ['operator', String(id), []]);
  assert.match(
    event?.details ?? '',
    /^\{"nickname":"public","secret":"short_lived","by":"operator","hash":"01[0-9a-f]{64}"\}$/,
  );
});

onEachDatabase('reports of more texts than one transaction has end all of them', async ({ db }) => {
  const services = wireOn(db);
  await addAccount(db);
  const { secret } = await services.apiKeys.create(operator, 'acc_ada', { nickname: 'last' });
  const misses = Array.from({ length: 300 }, () => makeKey('krv').reveal());
  const results = await services.leaks.report(operator, textsOf([...misses, secret.reveal()]));
  assert.deepEqual(new Set(results.slice(0, -1)), new Set(['unknown']));
  assert.equal(results.at(-1), 'current');
});

onEachDatabase('a report that matches nothing is confirmed as ordinary work', async ({ db }) => {
  const classes: unknown[] = [];
  const confirm: Db['confirm'] = (workClass) => {
    classes.push(workClass);
    return db.confirm(workClass);
  };
  const { leaks } = wireOn({ ...withTransaction(db, db.transaction.bind(db)), confirm });
  assert.deepEqual(await leaks.report(possessor, textsOf([makeKey('krv').reveal()])), ['unknown']);
  assert.deepEqual(classes, ['ordinary']);
});

onEachDatabase('an event has where the secret was found', async ({ db }) => {
  const { leaks, apiKeys } = wireOn(db);
  await addAccount(db);
  const { secret } = await apiKeys.create(operator, 'acc_ada', { nickname: 'a' });
  const source = { host: 'github.com', repository: 'octo/cat' };
  await leaks.report({ kind: 'github' }, [{ text: secret.reveal(), source }]);
  const [event] = await leaksIn(db);
  assert.equal(event?.actor, 'github');
  assert.match(event?.details ?? '', /"by":"github","host":"github\.com","repository":"octo\/cat","hash"/);
});

/** Instances on two connections. */
function instances(): (db: Db) => Services {
  const wired = new Map<Db, Services>();
  return (db) => {
    const services = wired.get(db) ?? wireOn(db);
    wired.set(db, services);
    return services;
  };
}

async function fixture({ db }: TestDb) {
  const on = instances();
  await addAccount(db);
  const { id, secret } = await on(db).apiKeys.create(operator, 'acc_ada', { nickname: 'a', scopes: ['a'] });
  return { on, id, text: secret.reveal() };
}

onEachDatabase('concurrent reports of one secret end it once', async (opened) => {
  const { on, id, text } = await fixture(opened);
  const settled = await race(
    opened,
    rivalsMin,
    async (db) => (await on(db).leaks.report(possessor, textsOf([text])))[0],
  );
  const results = settled.map((result) => (result.status === 'fulfilled' ? result.value : codeOf(result.reason)));
  assert.deepEqual(results.map(String).toSorted(), ['current', ...results.slice(1).map(() => 'unknown')]);
  assert.equal((await leaksIn(opened.db)).length, 1);
  assert.equal((await on(opened.db).keyChanges.read('acc_ada', id)).revision, 1);
});

onEachDatabase('a report during rotations ends its secret, current or previous, and no other', async (opened) => {
  const { on, id, text } = await fixture(opened);
  const texts: string[] = [];
  const settled = await race(opened, rivalsMin, async (db, rival) => {
    if (rival === rivalsMin / 2) return on(db).leaks.report(possessor, textsOf([text]));
    const { secret } = await on(db).keyChanges.rotate(operator, 'acc_ada', id, overlap);
    return void texts.push(secret.reveal());
  });
  for (const result of settled) assert.equal(result.status, 'fulfilled');
  assert.notEqual(await outcomeOf(on(opened.db), text), 'valid');
  const valid = await Promise.all(texts.map((other) => outcomeOf(on(opened.db), other)));
  assert.equal(valid.filter((outcome) => outcome === 'valid').length, 2, 'the last secret and the one before');
  assert.equal((await on(opened.db).keyChanges.read('acc_ada', id)).leakedAt, null);
});

onEachDatabase('concurrent changes never make a leaked secret valid again', async (opened) => {
  const { on, id, text } = await fixture(opened);
  const settled = await race(opened, rivalsMin, async (db, rival): Promise<unknown> => {
    const { keyChanges, leaks } = on(db);
    if (rival === rivalsMin / 2) return leaks.report(possessor, textsOf([text]));
    if (rival % 3 === 0) return keyChanges.change(operator, 'acc_ada', id, { disabled: rival % 2 === 0 });
    return keyChanges.change(operator, 'acc_ada', id, { metadata: { rival } });
  });
  for (const result of settled) if (result.status === 'rejected') assert.equal(codeOf(result.reason), 'key_leaked');
  assert.equal(await outcomeOf(on(opened.db), text), 'not_found');
  const { leakedAt, disabledAt } = await on(opened.db).keyChanges.read('acc_ada', id);
  assert.ok(leakedAt !== null && disabledAt !== null);
});

onEachDatabase('reports of all keys of an account while it is deleted cause no deadlock', async (opened) => {
  const on = instances();
  const { db } = opened;
  for (let round = 0; round < 3; round++) {
    const accountId = await addAccount(db, `user${round}`);
    const texts: string[] = [];
    for (let count = 0; count < 20; count++)
      texts.push((await on(db).apiKeys.create(operator, accountId, { nickname: `k${count}` })).secret.reveal());
    const settled = await race(opened, 8, async (by, rival): Promise<unknown> => {
      if (rival === 4) return deleteAccount(by, { principal: operator, now: new FakeClock().now() }, accountId);
      return on(by).leaks.report(possessor, textsOf(rival % 2 === 0 ? texts : texts.toReversed()));
    });
    for (const result of settled) assert.equal(result.status, 'fulfilled');
    for (const text of texts) assert.equal(await outcomeOf(on(db), text), 'not_found');
  }
});

onEachDatabase('a change of unknown outcome that is finished after a report does not undo it', async ({ db }) => {
  const line = new Line();
  const [one, other] = [wireOn(behind(db, line)), wireOn(db)];
  await addAccount(db);
  const { id, secret } = await one.apiKeys.create(operator, 'acc_ada', { nickname: 'a', scopes: ['a', 'b'] });
  const previous = secret.reveal();
  const current = (await one.keyChanges.rotate(operator, 'acc_ada', id, overlap)).secret.reveal();
  line.state = 'cut before';
  await assert.rejects(one.keyChanges.change(operator, 'acc_ada', id, { scopes: ['a'], addresses: ['192.0.2.1'] }));
  await assert.rejects(one.keyChanges.endPrevious(operator, 'acc_ada', id));
  assert.deepEqual(await other.leaks.report(possessor, textsOf([current])), ['current']);
  line.state = 'whole';
  await until('the changes are finished', async () => {
    const { scopes, previousExpiresAt } = await other.keyChanges.read('acc_ada', id);
    return scopes === 'a' && previousExpiresAt === null;
  });
  const { leakedAt, disabledReason } = await other.keyChanges.read('acc_ada', id);
  assert.deepEqual([leakedAt !== null, disabledReason], [true, 'leaked']);
  const next = await other.keyChanges.rotate(operator, 'acc_ada', id, overlap);
  assert.equal(await outcomeOf(other, current), 'not_found');
  assert.equal(await outcomeOf(other, previous), 'not_found', 'the overlap was ended');
  assert.notEqual(await outcomeOf(other, next.secret.reveal()), 'not_found');
});

onEachDatabase('the deletion journal has an entry for each ended secret before the response', async ({ db }) => {
  const config = testConfig();
  const services = wireOn(db, { config });
  await addAccount(db);
  const { secret } = await services.apiKeys.create(operator, 'acc_ada', { nickname: 'a' });
  await services.leaks.report(possessor, textsOf([secret.reveal()]));
  const [event] = await leaksIn(db);
  const entries = (await Array.fromAsync(readJournal(config.deletionJournal!, keys))).filter(
    ({ kind }) => kind === 'secret_leaked',
  );
  const hash = keys.apiKeyHash.stored(secret.reveal()).toString('hex');
  assert.deepEqual(entries, [{ kind: 'secret_leaked', id: hash, at: event?.at }]);
});
