/** A disk that an error has made read-only: changes and starts of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basic, bearer, goodPassword, startProgram } from './program.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

const skip = skipWithoutDisks();
const environment = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

test(
  'on a disk that became read-only, changes return 503, and each acknowledged change is in force after its repair',
  { skip },
  async () => {
    using disk = new SmallDisk();
    await using program = await startProgram(disk.path, environment);
    const { accessToken } = await program.signIn();
    const [kept, removed] = [await program.createKey(accessToken), await program.createKey(accessToken, 'removed')];
    assert.equal((await program.call('DELETE', `/auth/api-keys/${removed.id}`, bearer(accessToken))).status, 200);
    disk.makeReadOnly();
    const changes = [
      await program.call('POST', '/auth/api-keys', bearer(accessToken), { nickname: 'another' }),
      await program.call('DELETE', `/auth/api-keys/${kept.id}`, bearer(accessToken)),
      await program.call('POST', '/auth/token', basic('you@example.com', goodPassword)),
    ];
    assert.deepEqual(
      changes.map(({ status, json }) => [status, (json as { code: string }).code]),
      changes.map(() => [503, 'unavailable']),
    );
    const statusOf = async (key: string): Promise<number> =>
      (await program.call('GET', '/auth/forward', bearer(key))).status;
    assert.deepEqual([await statusOf(kept.key), await statusOf(removed.key)], [200, 401]);
    assert.deepEqual((await program.call('GET', '/health/ready')).json, { status: 'ok', writes: false });
    assert.equal((await program.stop()).status, 0);

    disk.repair();
    await using again = await startProgram(disk.path, environment);
    const { json } = await again.call('GET', '/auth/api-keys', bearer(accessToken));
    assert.deepEqual(
      (json as { apiKeys: { id: number }[] }).apiKeys.map(({ id }) => id),
      [kept.id],
    );
    const verified = await again.command(['audit', 'verify']);
    assert.equal(verified.status, 0, verified.stderr);
  },
);

test('a service on a read-only disk does not start, and one line names the reason', { skip }, async () => {
  using disk = new SmallDisk();
  const program = await startProgram(disk.path, environment);
  assert.equal((await program.stop()).status, 0);
  disk.makeReadOnly();
  const { status, stdout, stderr } = await program.command(['serve']);
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^keyreeve: the database .* cannot be used: .* that its disk is not read-only.*\n$/);
  const doctor = await program.command(['doctor']);
  assert.equal(doctor.status, 1);
  assert.match(doctor.stdout, /^database +failed .*read-only/m);
});
