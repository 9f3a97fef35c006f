/** Approvals, denials, polls and changes of programs whose commit has an unknown outcome. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { program } from '../../../../test-kit/device-client.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addSession, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';

const clientIp = '192.0.2.1';
const states = ['cut before', 'cut after'] as const;

/** A person and a program, and two instances, of which the connection of one can break. */
async function fixture(db: Db) {
  const [line, clock] = [new Line(), new FakeClock()];
  const [one, other] = [wireOn(behind(db, line), { clock }), wireOn(db, { clock })];
  await other.programs.add(operator, program);
  const accountId = await addAccount(db);
  const { id: sessionId } = await addSession(db, accountId, 'one');
  const person = { principal: { kind: 'account', accountId, sessionId }, clientIp } as const;
  const begin = async () => {
    const { device_code: deviceCode, user_code: code } = await other.deviceRequests.begin(program.id, '', clientIp);
    return { deviceCode, code, id: (await other.approvals.lookUp(person, code)).id };
  };
  const approved = async () => {
    const begun = await begin();
    await other.approvals.approve(person, begun.id, { code: begun.code });
    return begun;
  };
  const eventsOf = async (action: string): Promise<number> =>
    (await listAuditEvents(db)).filter((event) => event.action === action).length;
  const keyCount = async (): Promise<number> => (await other.apiKeys.list(accountId)).length;
  return { line, clock, one, other, person, begin, approved, eventsOf, keyCount };
}

const poll = ({ deviceRequests }: Services, deviceCode: string) =>
  deviceRequests.poll({ clientId: program.id, deviceCode, clientIp });
const codeOfPoll = (service: Services, deviceCode: string): Promise<unknown> =>
  poll(service, deviceCode).then(() => 'key', codeOf);
const isAccepted = async ({ verifier }: Services, key: string): Promise<boolean> => (await verifier.verify(key)).valid;
const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';

for (const state of states) {
  onEachDatabase(`an approval whose connection is ${state} the commit happens once, or not`, async ({ db }) => {
    const { line, one, other, person, begin, eventsOf } = await fixture(db);
    const { deviceCode, code, id } = await begin();
    line.state = state;
    await assert.rejects(one.approvals.approve(person, id, { code }), isUnavailable);
    line.state = 'whole';
    const again = await one.approvals.approve(person, id, { code }).then(() => 'approved', codeOf);
    assert.equal(again, state === 'cut before' ? 'approved' : 'approval_decided');
    assert.equal((await other.approvals.find(person, id)).state, 'approved');
    assert.equal(await eventsOf('approval.approved'), 1);
    assert.equal(await codeOfPoll(other, deviceCode), 'key');
  });

  onEachDatabase(`a denial whose connection is ${state} the commit is finished: no poll gets a key`, async ({ db }) => {
    const { line, one, other, person, approved, eventsOf, keyCount } = await fixture(db);
    const { deviceCode, code, id } = await approved();
    line.state = state;
    await assert.rejects(one.approvals.deny(person, id, code), isUnavailable);
    assert.equal(await codeOfPoll(one, deviceCode), 'unavailable');
    line.state = 'whole';
    await until('the request is denied', async () => (await other.approvals.find(person, id)).state === 'denied');
    assert.equal(await codeOfPoll(other, deviceCode), 'access_denied');
    assert.deepEqual([await eventsOf('approval.denied'), await keyCount()], [1, 0]);
  });

  onEachDatabase(`a poll whose connection is ${state} the commit makes one key, not two`, async ({ db }) => {
    const { line, clock, one, other, approved, eventsOf, keyCount } = await fixture(db);
    const { deviceCode } = await approved();
    line.state = state;
    assert.equal(await codeOfPoll(one, deviceCode), 'unavailable');
    assert.equal(await keyCount(), state === 'cut before' ? 0 : 1);
    line.state = 'whole';
    if (state === 'cut after') {
      assert.equal(await codeOfPoll(one, deviceCode), 'slow_down');
      clock.advance({ seconds: limits.deviceRepeatAfterSeconds });
    }
    const first = await poll(one, deviceCode);
    // Its response is lost, and so is the commit of the next secret, or its outcome.
    clock.advance({ seconds: limits.deviceRepeatAfterSeconds });
    line.state = state;
    assert.equal(await codeOfPoll(one, deviceCode), state === 'cut before' ? 'unavailable' : 'slow_down');
    assert.equal(await isAccepted(other, first.secret.reveal()), state === 'cut before');
    line.state = 'whole';
    clock.advance({ seconds: limits.deviceRepeatAfterSeconds });
    if (state === 'cut before') {
      // The verification has used it.
      await other.uses.flush();
      assert.equal(await codeOfPoll(one, deviceCode), 'invalid_grant');
      assert.equal(await isAccepted(one, first.secret.reveal()), true);
    } else {
      const last = await poll(one, deviceCode);
      assert.equal(last.keyId, first.keyId);
      for (const service of [one, other]) {
        assert.equal(await isAccepted(service, last.secret.reveal()), true);
        assert.equal(await isAccepted(service, first.secret.reveal()), false);
      }
    }
    assert.deepEqual([await keyCount(), await eventsOf('api_key.created')], [1, 1]);
  });

  onEachDatabase(
    `a sign-out whose connection is ${state} the commit is finished: the key is deleted`,
    async ({ db }) => {
      const { line, one, other, approved, eventsOf, keyCount } = await fixture(db);
      const { secret } = await poll(other, (await approved()).deviceCode);
      const revoke = (service: Services) => service.keyRevocations.revoke(program.id, secret.reveal());
      line.state = state;
      await assert.rejects(revoke(one), isUnavailable);
      await assert.rejects(revoke(one), isUnavailable);
      if (state === 'cut before') await assert.rejects(isAccepted(one, secret.reveal()), isUnavailable);
      line.state = 'whole';
      await until('the key is deleted', async () => (await keyCount()) === 0);
      for (const service of [one, other]) {
        assert.equal(await isAccepted(service, secret.reveal()), false);
        await revoke(service);
      }
      assert.equal(await eventsOf('api_key.deleted'), 1);
    },
  );

  onEachDatabase(
    `the removal of a program whose connection is ${state} the commit is finished: no poll gets a key`,
    async ({ db }) => {
      const { line, one, other, approved, eventsOf, keyCount } = await fixture(db);
      const { deviceCode } = await approved();
      line.state = state;
      await assert.rejects(one.programs.remove(operator, program.id, true), isUnavailable);
      const expected = state === 'cut before' ? 'unavailable' : 'invalid_client';
      assert.equal(await codeOfPoll(one, deviceCode), expected);
      assert.equal(await one.deviceRequests.begin(program.id, '', clientIp).catch(codeOf), expected);
      line.state = 'whole';
      await until('the program is removed', async () => (await other.programs.list()).length === 0);
      assert.equal(await codeOfPoll(other, deviceCode), 'invalid_client');
      assert.deepEqual([await eventsOf('program.removed'), await keyCount()], [1, 0]);
    },
  );

  onEachDatabase(
    `a program whose narrowing has an unknown outcome, ${state} the commit, yields no key with more rights`,
    async ({ db }) => {
      const { line, one, other, approved, eventsOf } = await fixture(db);
      const { deviceCode } = await approved();
      line.state = state;
      await assert.rejects(one.programs.change(operator, program.id, { scopes: [] }), isUnavailable);
      assert.equal(await codeOfPoll(one, deviceCode), 'unavailable');
      // A later change of another member does not replace it.
      await other.programs.change(operator, program.id, { name: 'Another name' });
      line.state = 'whole';
      await until('the program is narrowed', async () => (await other.programs.find(program.id)).scopes === '');
      assert.equal((await other.programs.find(program.id)).name, 'Another name');
      assert.equal(await codeOfPoll(other, deviceCode), 'access_denied');
      assert.equal(await eventsOf('program.updated'), 2);
    },
  );
}

onEachDatabase('a narrowing of unknown outcome does not replace a later one of the same member', async ({ db }) => {
  const { line, one, other } = await fixture(db);
  line.state = 'cut before';
  await assert.rejects(one.programs.change(operator, program.id, { lifetimeSeconds: 600 }), isUnavailable);
  await other.programs.change(operator, program.id, { lifetimeSeconds: 7_200 });
  const before = line.commits;
  line.state = 'whole';
  await until('the repetition has ended', () => line.commits > before);
  assert.equal((await other.programs.find(program.id)).lifetimeSeconds, 7_200);
});
