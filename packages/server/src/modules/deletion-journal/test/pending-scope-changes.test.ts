/** Changes of scopes and entitlements of unknown outcome: keys that they concern get 503 until the outcome is known. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';

const marked = { description: '', entitled: true };

/** A service behind a connection that breaks, another instance, and a key with a marked and with an unmarked scope. */
async function fixture(db: Db) {
  const [line, clock] = [new Line(), new FakeClock()];
  const config = { ...testConfig(), scopes: 'catalogue' } as const;
  const [one, other] = [wireOn(behind(db, line), { config, clock }), wireOn(db, { config, clock })];
  const accountId = await addAccount(db);
  await one.scopeCatalogue.set(operator, 'marked', marked);
  await one.scopeCatalogue.set(operator, 'open', { description: '', entitled: false });
  await one.entitlements.set(operator, accountId, ['marked']);
  const create = async (...scopes: string[]): Promise<string> =>
    (
      await one.apiKeys.create(operator, accountId, { nickname: `key ${scopes.length} ${scopes.join()}x`, scopes })
    ).secret.reveal();
  const without = await create();
  return { line, accountId, one, other, marked: await create('marked'), open: await create('open'), without };
}

/** The scopes of a verification result; the code of its error if there is none. */
const outcomeOf = ({ verifier }: Services, key: string): Promise<unknown> =>
  verifier.verify(key).then((result) => (result.valid && result.type === 'api_key' ? result.scopes : result), codeOf);
const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';
const settled = (service: Services, key: string): Promise<void> =>
  until('the change is finished', async () => (await outcomeOf(service, key)) === '');
const countOf = async (db: Db, action: string): Promise<number> =>
  (await listAuditEvents(db)).filter((event) => event.action === action).length;

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(
    `the keys of an account get 503 until the removal of an entitlement is finished that was ${state} its commit`,
    async ({ db }) => {
      const { line, accountId, one, other, marked: key, without } = await fixture(db);
      line.state = state;
      await assert.rejects(one.entitlements.set(operator, accountId, []), isUnavailable);
      // The whole account is affected.
      for (const affected of [key, without]) assert.equal(await outcomeOf(one, affected), 'unavailable');
      line.state = 'whole';
      await settled(other, key);
      assert.notEqual(await outcomeOf(one, key), 'marked');
      assert.equal(await countOf(db, 'account.entitlements_set'), 2, 'recorded once');
    },
  );

  for (const [what, change] of Object.entries({
    marked: (one: Services) => one.scopeCatalogue.set(operator, 'open', marked),
    deleted: (one: Services) => one.scopeCatalogue.delete(operator, 'open'),
  }))
    onEachDatabase(
      `only keys with a scope get 503 until it is ${what}, after the connection was ${state} the commit`,
      async ({ db }) => {
        const { line, one, other, open: key, marked: unaffected, without } = await fixture(db);
        line.state = state;
        await assert.rejects(change(one), isUnavailable);
        assert.equal(await outcomeOf(one, key), 'unavailable');
        assert.equal(await outcomeOf(one, unaffected), 'marked');
        assert.equal(await outcomeOf(one, without), '');
        line.state = 'whole';
        await settled(other, key);
        assert.notEqual(await outcomeOf(one, key), 'open');
        assert.equal(await countOf(db, what === 'marked' ? 'scope.set' : 'scope.deleted'), what === 'marked' ? 3 : 1);
      },
    );
}

onEachDatabase(
  'a change of unknown outcome is not repeated after a later change of another instance',
  async ({ db }) => {
    const { line, accountId, one, other, open, marked: key } = await fixture(db);
    line.state = 'cut before';
    await assert.rejects(one.scopeCatalogue.delete(operator, 'open'), isUnavailable);
    await assert.rejects(one.entitlements.set(operator, accountId, []), isUnavailable);
    // Both confirm what the database has, so they change nothing but the revision.
    await other.scopeCatalogue.set(operator, 'open', { description: '', entitled: false });
    await other.entitlements.set(operator, accountId, ['marked']);
    line.state = 'whole';
    const before = line.commits;
    await until('both are finished', async () => Promise.resolve(line.commits >= before + 2));
    assert.deepEqual([await outcomeOf(other, open), await outcomeOf(other, key)], ['open', 'marked']);
  },
);

onEachDatabase(
  'a change of unknown outcome that removes no rights is not repeated, and rejects no key',
  async ({ db }) => {
    const { line, accountId, one, other, open, marked: key } = await fixture(db);
    await other.scopeCatalogue.set(operator, 'more', marked);
    line.state = 'cut before';
    await assert.rejects(
      one.scopeCatalogue.set(operator, 'open', { description: 'new', entitled: false }),
      isUnavailable,
    );
    await assert.rejects(
      one.scopeCatalogue.set(operator, 'marked', { description: '', entitled: false }),
      isUnavailable,
    );
    await assert.rejects(one.entitlements.set(operator, accountId, ['marked', 'more']), isUnavailable);
    line.state = 'whole';
    assert.deepEqual([await outcomeOf(one, open), await outcomeOf(one, key)], ['open', 'marked']);
  },
);
