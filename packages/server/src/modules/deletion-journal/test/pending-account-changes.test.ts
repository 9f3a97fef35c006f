/** Several changes of unknown outcome to one account are all finished, in the order of their requests. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../foundation/principal.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';

const password = new Secret('wombat orbit velvet 42');
const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };
const client = { clientIp: '192.0.2.1', userAgent: '' };

const instanceOn = (db: Db, clock: FakeClock): Services => wireOn(db, { clock, argon2 });

interface Stage {
  readonly line: Line;
  /** Its transactions go over the line. */
  readonly broken: Services;
  /** Another instance on the same database. */
  readonly other: Services;
  readonly id: string;
  readonly key: string;
  readonly accessToken: string;
}

async function stageOn(db: Db): Promise<Stage> {
  const line = new Line();
  const clock = new FakeClock();
  const [broken, other] = [instanceOn(behind(db, line), clock), instanceOn(db, clock)];
  await broken.signingKeys.ensure();
  const { id } = await broken.accounts.create(operator, 'ada@example.com', password, 'user');
  const { secret } = await broken.apiKeys.create(operator, id, { nickname: 'key' });
  const { accessToken } = await broken.tokenPairs.signIn('ada@example.com', password, client);
  return { line, broken, other, id, key: secret.reveal(), accessToken };
}

const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';

type Change = (services: Services, id: string) => Promise<unknown>;
const changes: Readonly<Record<string, Change>> = {
  'delete keys': ({ administration }, id) => administration.revokeKeys(operator, id),
  disable: ({ accounts }, id) => accounts.disable(operator, id),
  delete: ({ accounts }, id) => accounts.delete(operator, id),
};

const pairs: readonly (readonly [first: string, second: string, actions: readonly string[]])[] = [
  ['delete keys', 'disable', ['api_key.deleted', 'account.disabled']],
  ['delete keys', 'delete', ['api_key.deleted', 'account.deleted']],
  ['disable', 'delete', ['account.disabled', 'account.deleted']],
  ['disable', 'delete keys', ['account.disabled', 'api_key.deleted']],
];

for (const [first, second, actions] of pairs) {
  onEachDatabase(`a request to ${second} after a pending request to ${first} is finished after it`, async ({ db }) => {
    const { line, broken, id, key, accessToken } = await stageOn(db);
    const before = (await listAuditEvents(db)).length;
    line.state = 'cut before';
    await assert.rejects(async () => changes[first]?.(broken, id), isUnavailable);
    await assert.rejects(async () => changes[second]?.(broken, id), isUnavailable);
    for (const credential of [key, accessToken])
      await assert.rejects(broken.verifier.verify(credential), isUnavailable);

    line.state = 'whole';
    const recorded = async () => (await listAuditEvents(db)).slice(before).map(({ action }) => action);
    await until('every change is finished', async () => (await recorded()).length >= actions.length);
    assert.deepEqual(await recorded(), actions);
    assert.equal((await broken.verifier.verify(key)).valid, false);
    assert.equal((await broken.verifier.verify(accessToken)).valid, false);
  });
}

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(
    `an acknowledged request to enable an account survives a pending disabling that was ${state} its commit`,
    async ({ db }) => {
      const { line, broken, other, id, key } = await stageOn(db);
      line.state = state;
      await assert.rejects(broken.accounts.disable(operator, id), isUnavailable);
      // On another instance, so the retry of this instance comes later.
      await other.accounts.enable(operator, id);
      assert.equal((await other.accounts.find(id)).disabledAt, null);
      const { commits } = line;
      line.state = 'whole';
      await until('the disabling is retried', () => line.commits > commits);
      assert.equal((await other.accounts.find(id)).disabledAt, null);
      assert.equal((await other.verifier.verify(key)).valid, true);
      const enabled = (await listAuditEvents(db)).filter(({ action }) => action === 'account.enabled');
      assert.equal(enabled.length, state === 'cut after' ? 1 : 0, 'enabling an enabled account is no event');
    },
  );
}

onEachDatabase('a disabling after that request is finished, although an older one is pending too', async ({ db }) => {
  const { line, broken, other, id } = await stageOn(db);
  line.state = 'cut before';
  await assert.rejects(broken.accounts.disable(operator, id), isUnavailable);
  await other.accounts.enable(operator, id);
  await assert.rejects(broken.accounts.disable(operator, id), isUnavailable);
  line.state = 'whole';
  await until('the disabling is finished', async () => (await other.accounts.find(id)).disabledAt !== null);
});

for (const [what, change] of [
  ['disable', ({ accounts }, by, id) => accounts.disable(by, id)],
  ['delete', ({ accounts }, by, id) => accounts.delete(by, id)],
] as const satisfies readonly (readonly [
  string,
  (services: Services, by: Principal, id: string) => Promise<unknown>,
])[]) {
  onEachDatabase(
    `a pending request to ${what} an administrator is finished, although the account is the last administrator by then`,
    async ({ db }) => {
      const { line, broken, other, id, key } = await stageOn(db);
      const { id: byId } = await other.accounts.create(operator, 'bob@example.com', password, 'admin');
      await other.accounts.setRole(operator, id, 'admin');
      const { accessToken } = await other.tokenPairs.signIn('bob@example.com', password, client);
      const by = { ...(await other.tokens.principalOf(accessToken)), actsAs: 'administrator' as const };
      line.state = 'cut before';
      await assert.rejects(change(broken, by, id), isUnavailable);
      await other.accounts.setRole(operator, byId, 'user');
      line.state = 'whole';
      await until('the change is finished', async () => !(await other.verifier.verify(key)).valid);
    },
  );
}
