/** Several workers: replacement and end, in the cases that take long. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Connection, connectionsTo, ended, killAndAwaitNext, pidOf, pidsOf } from './worker-pool.ts';
import { HalfSent } from './half-sent.ts';
import { heldDrain, releaseDrain } from './held-drain-program.ts';
import { bearer, databaseIn, environmentFor, keyreeveBin, newProgram, type Key, type Program } from './program.ts';
import { noTerminal, Terminal } from './terminal.ts';

const two = { KEYREEVE_WORKERS: '2' };

/** Acknowledged changes. A key whose deletion has no response is in neither list. */
interface Acknowledged {
  readonly live: Key[];
  readonly deleted: Key[];
}

/** One client: creates keys and deletes every second one. A lost connection counts as no response. */
async function createAndDelete(
  program: Program,
  token: string,
  client: number,
  { live, deleted, isOver }: Acknowledged & { readonly isOver: () => boolean },
) {
  const attempt = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  };
  for (let count = 0; !isOver(); count++) {
    const key = await attempt(() => program.createKey(token, `${client}-${count}`));
    if (!key) continue;
    if (count % 2 === 0) {
      live.push(key);
      continue;
    }
    const answer = await attempt(() => program.call('DELETE', `/auth/api-keys/${key.id}`, bearer(token)));
    if (!answer) continue;
    assert.equal(answer.status, 200, answer.text);
    deleted.push(key);
  }
}

test('a worker that is killed under load is replaced without loss of acknowledged changes, while the others respond', async () => {
  const many = { KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000', KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000' };
  await using program = await newProgram({ ...two, ...many });
  const { accessToken } = await program.signIn();
  const acknowledged: Acknowledged = { live: [], deleted: [] };
  let isOver = false;
  const running = Array.from({ length: 6 }, (_, client) =>
    createAndDelete(program, accessToken, client, { ...acknowledged, isOver: () => isOver }),
  );
  // By number, because the order in which they become ready is random.
  const [first, second] = [pidOf(program, 1), pidOf(program, 2)];
  const [survivor] = await connectionsTo(program);
  for (const worker of [2, 2]) {
    const enough = acknowledged.deleted.length + 10;
    await program.waitFor('deletions', () => (acknowledged.deleted.length >= enough ? true : undefined));
    await killAndAwaitNext(program, worker);
    assert.equal((await survivor.call('GET', '/health/ready')).status, 200);
    assert.equal((await fetch(`${program.adminUrl}/health/ready`)).status, 200);
  }
  isOver = true;
  await Promise.all(running);
  assert.equal(pidOf(program, 1), first);
  const killed = program.records('worker_ended').map(({ worker, status, signal }) => [worker, status, signal]);
  assert.deepEqual(killed, [
    [2, null, 'SIGKILL'],
    [2, null, 'SIGKILL'],
  ]);
  assert.equal(program.records('worker_ended')[0]?.['workerPid'], second);

  assert.ok(acknowledged.live.length > 0 && acknowledged.deleted.length > 20);
  const connections = await connectionsTo(program);
  for (const it of connections) {
    const statusOf = async ({ key }: Key) => (await it.call('GET', '/auth/forward', bearer(key))).status;
    for (const key of acknowledged.live) assert.equal(await statusOf(key), 200, `key ${key.id} was acknowledged`);
    for (const key of acknowledged.deleted) assert.equal(await statusOf(key), 401, `key ${key.id} was deleted`);
  }
  for (const it of [survivor, ...connections]) it[Symbol.dispose]();
});

test('if a worker cannot be replaced, the service ends with its status after a few attempts, while the others respond', async () => {
  await using program = await newProgram(two);
  const keyFile = `${databaseIn(program.folder)}.master-key`;
  const survivor = await Connection.to(program, 1);
  renameSync(keyFile, `${keyFile}.away`);
  process.kill(pidOf(program, 2), 'SIGKILL');
  const attempts = await program.waitFor('attempts', () => {
    const ends = program.records('worker_ended');
    return ends.length >= 3 ? ends : undefined;
  });
  assert.deepEqual(
    attempts.slice(0, 3).map(({ worker, status, signal }) => [worker, status, signal]),
    [
      [2, null, 'SIGKILL'],
      [2, 78, null],
      [2, 78, null],
    ],
  );
  assert.equal((await survivor.call('GET', '/health/ready')).status, 200);
  survivor[Symbol.dispose]();
  const { status, stderr } = await program.exited();
  assert.equal(status, 78);
  assert.ok(stderr.includes(`its master key ${keyFile} is missing`), stderr);
  assert.deepEqual(
    program.records('stopped').map(({ isDrained }) => isDrained),
    [true],
  );
  assert.equal(program.records('worker_ended').length, 6);
});

test('SIGTERM to all processes, as from a service manager, counts once: requests in progress are completed', async () => {
  await using program = await newProgram({ ...two, ...heldDrain });
  const { refreshToken } = await program.signIn();
  const connection = await Connection.to(program, 2);
  const half = new HalfSent(program, refreshToken, connection.agent);
  for (const pid of pidsOf(program).values()) process.kill(pid, 'SIGTERM');
  program.signal('SIGTERM');
  await program.waitForRecord('stopping');
  assert.equal((await half.finish())[0], 200);
  connection[Symbol.dispose]();
  releaseDrain([program.child.pid, ...pidsOf(program).values()]);
  assert.equal((await program.exited()).status, 0);
});

test('a second SIGTERM, or a worker that never stops, ends all processes with status 1', async () => {
  await using program = await newProgram({ ...two, KEYREEVE_DRAIN_SECONDS: '300' });
  const pids = [...pidsOf(program).values()];
  program.signal('SIGTERM');
  await program.waitForRecord('stopping');
  assert.equal((await program.endAtSecondSignal()).status, 1);
  for (const pid of pids) await ended(pid);

  await using stuck = await newProgram(two);
  const pid = pidOf(stuck, 1);
  process.kill(pid, 'SIGSTOP');
  assert.equal((await stuck.stop()).status, 1);
  await ended(pid);
});

test('workers that are killed simultaneously are all replaced on the same port', async () => {
  await using program = await newProgram(two);
  const before = pidsOf(program);
  for (const pid of before.values()) process.kill(pid, 'SIGKILL');
  await program.waitFor('replacements', () =>
    [...pidsOf(program)].every(([worker, pid]) => before.get(worker) !== pid) ? true : undefined,
  );
  assert.equal((await program.call('GET', '/health/ready', { connection: 'close' })).status, 200);
  assert.equal((await program.stop()).status, 0);
});

suite('on a terminal', { skip: noTerminal }, () => {
  test('Ctrl-C, which all processes receive, stops all once with status 0', async () => {
    using folder = newTempFolder();
    const { KEYREEVE_DRAIN_SECONDS: _, ...environment } = environmentFor(folder.path, two);
    await using terminal = Terminal.start(`'${process.execPath}' '${keyreeveBin}' serve`, folder.path, environment);
    await terminal.shows('Press Ctrl-C to stop.\r\n');
    terminal.child.stdin?.write('\u0003');
    assert.equal((await terminal.exited()).status, 0);
    const count = (event: string) => terminal.stdout.split(`"event":"${event}"`).length - 1;
    assert.deepEqual([count('stopping'), count('stopped'), count('worker_ended')], [1, 1, 0]);
    assert.match(terminal.stdout, /"isDrained":true/);
  });
});
