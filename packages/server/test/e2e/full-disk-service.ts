/** A service whose disk becomes full. */
import assert from 'node:assert/strict';
import { until } from '../../test-kit/until.ts';
import { basic, bearer, goodPassword, startProgram, type HttpResponse, type Key, type Program } from './program.ts';
import { valuesOf } from './scrape.ts';
import { SmallDisk } from './small-disk.ts';

export const publicUrl = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

export const codeOf = ({ json }: HttpResponse): unknown => (json as { code?: unknown } | undefined)?.code;
export const statusOf = async (program: Program, { key }: Key): Promise<number> =>
  (await program.call('GET', '/auth/forward', bearer(key))).status;
export const readinessOf = async (program: Program): Promise<unknown> =>
  (await program.call('GET', '/health/ready')).json;

async function keysOf(program: Program, accessToken: string): Promise<number[]> {
  const { json } = await program.call('GET', '/auth/api-keys', bearer(accessToken));
  return (json as { apiKeys: { id: number }[] }).apiKeys.map(({ id }) => id).toSorted((a, b) => a - b);
}

/** Creates keys until the disk is full: the write-ahead log can have space that is allocated already. */
export async function createUntilRejected(program: Program, accessToken: string): Promise<Key[]> {
  const created: Key[] = [];
  for (let count = 0; count < 90; count++) {
    const response = await program.call('POST', '/auth/api-keys', bearer(accessToken), { nickname: `key ${count}` });
    if (response.status !== 201) {
      assert.deepEqual([response.status, codeOf(response)], [503, 'unavailable']);
      return created;
    }
    created.push(response.json as Key);
  }
  throw new Error('the disk does not become full');
}

/** Changes return 503 and verifications continue. With space again, each acknowledged change is in force. */
export async function assertChangesWait(): Promise<void> {
  using disk = new SmallDisk();
  const acknowledged: Key[] = [];
  let accessToken: string;
  let doomed: Key;
  {
    await using program = await startProgram(disk.path, publicUrl);
    ({ accessToken } = await program.signIn());
    acknowledged.push(await program.createKey(accessToken));
    doomed = await program.createKey(accessToken, 'doomed');
    disk.fill();
    acknowledged.push(...(await createUntilRejected(program, accessToken)));

    const rejected = [
      await program.call('POST', '/auth/token', basic('you@example.com', goodPassword)),
      await program.call('DELETE', `/auth/api-keys/${doomed.id}`, bearer(accessToken)),
    ];
    assert.deepEqual(
      rejected.map((response) => [response.status, codeOf(response)]),
      rejected.map(() => [503, 'unavailable']),
    );
    for (const key of acknowledged) assert.equal(await statusOf(program, key), 200);
    assert.deepEqual(await readinessOf(program), { status: 'ok', writes: false });
    assert.deepEqual(await valuesOf(program, 'keyreeve_database_writes'), [0]);
    const { status, stdout } = await program.command(['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
    assert.deepEqual(
      [status, checks.find(({ name }) => name === 'disk')?.state, checks.find(({ name }) => name === 'writes')?.state],
      [1, 'warning', 'failed'],
    );

    disk.free();
    await until('commits succeed', async () => ((await readinessOf(program)) as { writes: boolean }).writes);
    acknowledged.push(await program.createKey(accessToken, 'after'));
    // A deletion with an unknown outcome can have taken effect.
    const { status: deleted } = await program.call('DELETE', `/auth/api-keys/${doomed.id}`, bearer(accessToken));
    assert.ok([200, 404].includes(deleted), String(deleted));
    assert.equal(await statusOf(program, doomed), 401);
    assert.equal((await program.stop()).status, 0);
  }
  await using program = await startProgram(disk.path, publicUrl);
  for (const key of acknowledged) assert.equal(await statusOf(program, key), 200);
  assert.equal(await statusOf(program, doomed), 401);
  const kept = new Set(await keysOf(program, accessToken));
  assert.ok(new Set(acknowledged.map(({ id }) => id)).isSubsetOf(kept) && !kept.has(doomed.id));
  const verified = await program.command(['audit', 'verify']);
  assert.equal(verified.status, 0, verified.stderr);
}
