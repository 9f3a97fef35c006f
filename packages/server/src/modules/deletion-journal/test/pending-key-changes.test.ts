/** Changes of unknown outcome: verifications of the key return 503 until the narrowing change is known to be committed. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { KeyDetailsRow } from '../../api-keys/change-store.ts';
import type { KeyChangeRequest } from '../../api-keys/key-request.ts';

/** A service behind a connection that breaks, and another instance on the same database. */
async function newInstances(db: Db) {
  const [line, clock] = [new Line(), new FakeClock()];
  const accountId = await addAccount(db);
  return { line, accountId, one: wireOn(behind(db, line), { clock }), other: wireOn(db, { clock }) };
}

/** The result of a verification; the code of its error if there is none. */
const outcomeOf = ({ verifier }: Services, key: string): Promise<unknown> =>
  verifier.verify(key).then((result) => (result.valid ? 'valid' : result.code), codeOf);

const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';

const settled = async (service: Services, key: string, expected: string): Promise<void> => {
  await until('the change is finished', async () => (await outcomeOf(service, key)) !== 'unavailable');
  assert.equal(await outcomeOf(service, key), expected);
};

const actionsOf = async (db: Db, prefix = 'api_key.'): Promise<string[]> =>
  (await listAuditEvents(db)).map(({ action }) => action).filter((action) => action.startsWith(prefix));

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(
    `a disabling whose connection was ${state} its commit is finished before its key is verified again`,
    async ({ db }) => {
      const { line, accountId, one } = await newInstances(db);
      const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
      const { secret: untouched } = await one.apiKeys.create(operator, accountId, { nickname: 'b' });
      line.state = state;
      const change = { disabled: true, nickname: 'renamed', addresses: ['192.0.2.1'] };
      await assert.rejects(one.keyChanges.change(operator, accountId, id, change), isUnavailable);
      assert.equal(await outcomeOf(one, secret.reveal()), state === 'cut after' ? 'disabled' : 'unavailable');
      assert.equal(await outcomeOf(one, untouched.reveal()), 'valid');
      line.state = 'whole';
      await settled(one, secret.reveal(), 'disabled');
      const { nickname, addresses } = await one.keyChanges.read(accountId, id);
      assert.deepEqual({ nickname, addresses }, { nickname: 'renamed', addresses: '192.0.2.1/32' });
      assert.deepEqual((await actionsOf(db)).slice(2), ['api_key.updated', 'api_key.disabled'], 'recorded once');
    },
  );

  onEachDatabase(
    `the end of an overlap whose connection was ${state} its commit is finished before the key is verified again`,
    async ({ db }) => {
      const { line, accountId, one, other } = await newInstances(db);
      const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
      const rotated = await one.keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
      line.state = state;
      await assert.rejects(one.keyChanges.endPrevious(operator, accountId, id), isUnavailable);
      assert.notEqual(await outcomeOf(one, secret.reveal()), 'valid');
      line.state = 'whole';
      const isEnded = async (): Promise<boolean> => (await outcomeOf(other, secret.reveal())) === 'not_found';
      await until('the change is finished', isEnded);
      assert.equal(await outcomeOf(one, secret.reveal()), 'not_found');
      assert.equal(await outcomeOf(other, rotated.secret.reveal()), 'valid');
      assert.equal((await actionsOf(db, 'api_key.previous_ended')).length, 1);
    },
  );

  onEachDatabase(
    `a rotation whose connection was ${state} its commit is not repeated, and the owner can rotate again`,
    async ({ db }) => {
      const { line, accountId, one } = await newInstances(db);
      const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
      const request = { overlapSeconds: 0, endPrevious: false };
      line.state = state;
      await assert.rejects(one.keyChanges.rotate(operator, accountId, id, request), isUnavailable);
      line.state = 'whole';
      assert.equal(await outcomeOf(one, secret.reveal()), state === 'cut after' ? 'not_found' : 'valid');
      const again = await one.keyChanges.rotate(operator, accountId, id, { ...request, endPrevious: true });
      assert.equal(await outcomeOf(one, secret.reveal()), 'not_found');
      assert.equal(await outcomeOf(one, again.secret.reveal()), 'valid');
      assert.equal((await actionsOf(db, 'api_key.rotated')).length, state === 'cut after' ? 2 : 1);
    },
  );

  onEachDatabase(
    `a rotation with endCurrent whose connection was ${state} its commit keeps the previous secret, and can be sent again`,
    async ({ db }) => {
      const { line, accountId, one } = await newInstances(db);
      const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
      const lost = await one.keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
      line.state = state;
      await assert.rejects(one.keyChanges.rotate(operator, accountId, id, { endCurrent: true }), isUnavailable);
      line.state = 'whole';
      assert.equal(await outcomeOf(one, secret.reveal()), 'valid');
      assert.equal(await outcomeOf(one, lost.secret.reveal()), state === 'cut after' ? 'not_found' : 'valid');
      const again = await one.keyChanges.rotate(operator, accountId, id, { endCurrent: true });
      assert.equal(await outcomeOf(one, secret.reveal()), 'valid');
      assert.equal(await outcomeOf(one, lost.secret.reveal()), 'not_found');
      assert.equal(await outcomeOf(one, again.secret.reveal()), 'valid');
      assert.equal((await actionsOf(db, 'api_key.rotated')).length, state === 'cut after' ? 3 : 2);
    },
  );
}

/** A change of unknown outcome that removes rights, a later change of another instance, and the key after both. */
const laterChanges: Readonly<
  Record<string, readonly [change: KeyChangeRequest, later: KeyChangeRequest, expected: Partial<KeyDetailsRow>]>
> = {
  'a disabling and later metadata': [{ disabled: true }, { metadata: { a: 1 } }, { disabledReason: 'administrator' }],
  'a disabling with a nickname and later metadata': [
    { disabled: true, nickname: 'renamed' },
    { metadata: { a: 1 } },
    { disabledReason: 'administrator', nickname: 'a' },
  ],
  'a removal of a scope and a later scope': [{ scopes: ['a'] }, { scopes: ['a', 'b', 'c'] }, { scopes: 'a c' }],
  'a removal of a scope and a later removal of another': [{ scopes: ['a'] }, { scopes: ['b'] }, { scopes: '' }],
  'an earlier expiry and a later disabling': [{ expiresAt: 9e12 }, { disabled: true }, { expiresAt: 9e12 }],
  'an earlier expiry and a later one': [{ expiresAt: 9e12 }, { expiresAt: 9.1e12 }, { expiresAt: 9.1e12 }],
  'IP ranges and a later nickname': [
    { addresses: ['192.0.2.1'] },
    { nickname: 'renamed' },
    { addresses: '192.0.2.1/32', nickname: 'renamed' },
  ],
  'IP ranges and later ones': [
    { addresses: ['192.0.2.1'] },
    { addresses: ['192.0.2.2'] },
    { addresses: '192.0.2.2/32' },
  ],
};

for (const [what, [change, later, expected]] of Object.entries(laterChanges)) {
  onEachDatabase(
    `a change of unknown outcome removes its rights, unless a later change replaced it: ${what}`,
    async ({ db }) => {
      const { line, accountId, one, other } = await newInstances(db);
      const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a', scopes: ['a', 'b'] });
      line.state = 'cut before';
      await assert.rejects(one.keyChanges.change(operator, accountId, id, change), isUnavailable);
      await other.keyChanges.change(operator, accountId, id, later);
      assert.notEqual(await outcomeOf(one, secret.reveal()), 'valid');
      await repeated(line);
      const row = await other.keyChanges.read(accountId, id);
      const values = Object.keys(expected).map((name) => [name, row[name as keyof KeyDetailsRow]]);
      assert.deepEqual(Object.fromEntries(values), expected);
    },
  );
}

onEachDatabase('several changes of one key of unknown outcome are all finished, in their order', async ({ db }) => {
  const { line, accountId, one } = await newInstances(db);
  const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a', scopes: ['a', 'b'] });
  const rotated = await one.keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
  line.state = 'cut before';
  const changes: readonly KeyChangeRequest[] = [
    { expiresAt: 9.2e12 },
    { scopes: ['a'] },
    { addresses: ['192.0.2.1'] },
    { expiresAt: 9.1e12 },
    { addresses: ['192.0.2.2'] },
    { disabled: true },
  ];
  for (const change of changes)
    await assert.rejects(one.keyChanges.change(operator, accountId, id, change), isUnavailable);
  await assert.rejects(one.keyChanges.endPrevious(operator, accountId, id), isUnavailable);
  await repeated(line, changes.length + 1);
  assert.equal(await outcomeOf(one, rotated.secret.reveal()), 'disabled');
  const { scopes, expiresAt, addresses, disabledReason } = await one.keyChanges.read(accountId, id);
  assert.deepEqual(
    { scopes, expiresAt, addresses, disabledReason },
    { scopes: 'a', expiresAt: 9.1e12, addresses: '192.0.2.2/32', disabledReason: 'administrator' },
  );
  assert.equal(await outcomeOf(one, secret.reveal()), 'not_found');
});

onEachDatabase('the end of an overlap of unknown outcome does not end that of a later rotation', async ({ db }) => {
  const { line, accountId, one, other } = await newInstances(db);
  const { id } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
  const request = { overlapSeconds: 60, endPrevious: true };
  const first = await one.keyChanges.rotate(operator, accountId, id, request);
  line.state = 'cut before';
  await assert.rejects(one.keyChanges.endPrevious(operator, accountId, id), isUnavailable);
  await other.keyChanges.rotate(operator, accountId, id, request);
  await repeated(line);
  assert.equal(await outcomeOf(other, first.secret.reveal()), 'valid');
});

/** Waits until the service has repeated this number of changes. */
async function repeated(line: Line, count = 1): Promise<void> {
  const before = line.commits;
  line.state = 'whole';
  await until('the changes are repeated', async () => line.commits >= before + count);
}

/** What makes a repetition impossible, and the result of a verification afterwards. */
const obstacles: Readonly<
  Record<string, readonly [meanwhile: (other: Services, accountId: string, id: number) => Promise<unknown>, string]>
> = {
  'the nickname is taken': [
    ({ apiKeys }, accountId) => apiKeys.create(operator, accountId, { nickname: 'renamed' }),
    'disabled',
  ],
  'the key is deleted': [({ apiKeys }, accountId, id) => apiKeys.delete(operator, accountId, id), 'not_found'],
  'the account is deleted': [({ accounts }, accountId) => accounts.delete(operator, accountId), 'not_found'],
};

for (const [what, [meanwhile, expected]] of Object.entries(obstacles)) {
  onEachDatabase(`a change of unknown outcome is finished although meanwhile ${what}`, async ({ db }) => {
    const { line, accountId, one, other } = await newInstances(db);
    const { id, secret } = await one.apiKeys.create(operator, accountId, { nickname: 'a' });
    line.state = 'cut before';
    const change = { disabled: true, nickname: 'renamed' };
    await assert.rejects(one.keyChanges.change(operator, accountId, id, change), isUnavailable);
    await meanwhile(other, accountId, id);
    line.state = 'whole';
    await settled(one, secret.reveal(), expected);
  });
}
