/**
 * A rotation of the master key on three instances on PostgreSQL under verification load: rotate, restart one instance after the
 * other, finish. No verification is refused and none fails.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, runProgram, startProgram, type Environment, type Program } from './program.ts';

const clientsPerInstance = 4;

/** Clients of a load balancer, which sends requests to the instances in rotation. */
class Load {
  readonly statuses = new Map<string, number>();
  readonly #targets = new Map<string, { isOver: boolean; readonly clients: Promise<void>[] }>();
  readonly #valid: string;
  readonly #deleted: string;

  constructor(valid: string, deleted: string) {
    this.#valid = valid;
    this.#deleted = deleted;
  }

  get count(): number {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0);
  }

  add({ url }: Program): void {
    const target = { isOver: false, clients: [] as Promise<void>[] };
    this.#targets.set(url, target);
    for (let client = 0; client < clientsPerInstance; client++) target.clients.push(this.#verify(url, target));
  }

  /** Resolves when no request to the instance is in progress. */
  async remove({ url }: Program): Promise<void> {
    const target = this.#targets.get(url);
    assert.ok(target);
    target.isOver = true;
    await Promise.all(target.clients);
  }

  /** Waits for further verifications. */
  async more(count: number): Promise<void> {
    const until = this.count + count;
    while (this.count < until) await new Promise((resolve) => setImmediate(resolve));
  }

  async #verify(url: string, target: { readonly isOver: boolean }): Promise<void> {
    for (let turn = 0; !target.isOver; turn++) {
      const [name, key] = turn % 8 === 7 ? ['deleted', this.#deleted] : ['valid', this.#valid];
      const result = await fetch(new URL('/auth/forward', url), { headers: bearer(key) }).then(
        async (response) => (await response.arrayBuffer(), String(response.status)),
        (error: unknown) => String(error),
      );
      const label = `${name} ${result}`;
      this.statuses.set(label, (this.statuses.get(label) ?? 0) + 1);
    }
  }
}

test('a rotation of the master key on three instances under load refuses no verification', async (context) => {
  using folder = newTempFolder();
  await using place = await newPlace('postgres');
  const [old, next] = ['old', 'next'].map((name) => join(folder.path, name)) as [string, string];
  writeFileSync(old, Buffer.alloc(32, 3).toString('base64url'), { mode: 0o600 });
  const environmentOf = (file: string): Environment => ({
    KEYREEVE_DATABASE_URL: place.url,
    KEYREEVE_MASTER_KEY_FILE: file,
    KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  });
  const rotate = (file: string, ...options: readonly string[]) =>
    runProgram(['master-key', 'rotate', ...options], { folder: folder.path, environment: environmentOf(file) });
  const programs: Program[] = [];
  try {
    for (let index = 0; index < 3; index++) programs.push(await startProgram(folder.path, environmentOf(old)));
    const [first] = programs as [Program];
    const { accessToken } = await first.signIn();
    const kept = await first.createKey(accessToken, 'kept');
    const deleted = await first.createKey(accessToken, 'deleted');
    assert.equal((await first.call('DELETE', `/auth/api-keys/${deleted.id}`, bearer(accessToken))).status, 200);

    const load = new Load(kept.key, deleted.key);
    for (const program of programs) load.add(program);
    await load.more(100);
    const started = await rotate(old, '--new-file', next, '--generate');
    assert.equal(started.status, 0, started.stderr);
    await load.more(100);
    for (const [index, program] of programs.entries()) {
      const refused = await rotate(next, '--finish');
      assert.deepEqual([refused.status, refused.stdout], [1, ''], refused.stderr);
      assert.equal(refused.stderr.match(/\bins_\w+ \(/g)?.length, 3 - index, refused.stderr);
      await load.remove(program);
      assert.equal((await program.stop()).status, 0);
      programs[index] = await startProgram(folder.path, environmentOf(next));
      load.add(programs[index]);
      await load.more(100);
    }
    const finished = await rotate(next, '--finish');
    assert.equal(finished.status, 0, finished.stderr);
    await load.more(100);
    for (const program of programs) await load.remove(program);
    assert.deepEqual([...load.statuses.keys()].toSorted(), ['deleted 401', 'valid 200']);
    context.diagnostic(`${load.count} verifications during the rotation`);
    const withOld = await runProgram(['serve'], { folder: folder.path, environment: environmentOf(old) });
    assert.deepEqual([withOld.status, withOld.stdout], [78, '']);
  } finally {
    for (const program of programs) await program[Symbol.asyncDispose]();
  }
});
