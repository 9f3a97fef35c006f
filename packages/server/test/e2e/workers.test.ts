/** The guarantee holds for every worker. `workers-together.extended.test.ts` and `workers-start.extended.test.ts` have the rest. */
import assert from 'node:assert/strict';
import { testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { type Connection, connectionsTo, withDatabase } from './worker-pool.ts';
import { bearer, newProgram, type Key } from './program.ts';

const rounds = 25;

/** Verifies the key repeatedly until `isOver`. @returns the statuses of requests that started while `since()` was true */
async function verifyRepeatedly(connection: Connection, key: string, isOver: () => boolean, since: () => boolean) {
  const late: number[] = [];
  while (!isOver()) {
    const isLate = since();
    const { status } = await connection.call('GET', '/auth/forward', bearer(key));
    if (isLate) late.push(status);
  }
  return late;
}

testOnBoth(
  'all workers accept a new key immediately, and reject a deleted key immediately',
  withDatabase(async (onDatabase) => {
    await using program = await newProgram({ ...onDatabase, KEYREEVE_WORKERS: '3' });
    const { accessToken } = await program.signIn();
    const connections = await connectionsTo(program);
    assert.deepEqual(
      connections.map(({ worker }) => worker),
      [1, 2, 3],
    );
    const statuses = (key: string) =>
      Promise.all(connections.map(async (it) => (await it.call('GET', '/auth/forward', bearer(key))).status));
    const second = await connectionsTo(program);
    for (let round = 0; round < rounds; round++) {
      const creator = connections[round % 3] ?? connections[0];
      const deleter = second[(round + 1 + (round % 2)) % 3] ?? second[0];
      const created = await creator.call('POST', '/auth/api-keys', bearer(accessToken), { nickname: `key ${round}` });
      const { id, key } = created.json as Key;
      assert.deepEqual(await statuses(key), [200, 200, 200]);

      // All three verify the key without a pause during the deletion, and must reject it after the response.
      let isDeleted = false;
      let lateCount = 0;
      const verifications = connections.map((it) =>
        verifyRepeatedly(
          it,
          key,
          () => isDeleted && lateCount > 6,
          () => {
            if (isDeleted) lateCount++;
            return isDeleted;
          },
        ),
      );
      assert.equal((await deleter.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
      isDeleted = true;
      const late = (await Promise.all(verifications)).flat();
      assert.ok(late.length > 6);
      assert.deepEqual(new Set(late), new Set([401]));
      assert.deepEqual(await statuses(key), [401, 401, 401]);
    }
    for (const it of [...connections, ...second]) it[Symbol.dispose]();
  }),
);
