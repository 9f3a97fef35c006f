/** A file to apply, and processes that start with it together. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPlace } from '../../test-kit/new-db.ts';
import type { Dialect } from '../../src/foundation/database/sql.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, startProgram, type Environment, type Program } from './program.ts';

const secret = 'f3'.repeat(32);
const sha256 = createHash('sha256').update(secret).digest('hex');
export const content = {
  generation: 1,
  scopes: [{ name: 'orders:read' }],
  serviceAccounts: [{ name: 'gateway' }],
  keys: [{ sha256, serviceAccount: 'gateway', nickname: 'first', scopes: ['keyreeve:verify', 'orders:read'] }],
  webhooks: [
    { name: 'siem', url: 'https://example.com/hooks', events: ['api_key.deleted'], secretFile: 'siem.secret' },
  ],
};

export function newFolder() {
  const temp = newTempFolder();
  const file = join(temp.path, 'keyreeve.json');
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  writeFileSync(join(temp.path, 'siem.secret'), `whsec_${Buffer.alloc(32, 5).toString('base64')}`, { mode: 0o600 });
  return Object.assign(temp, { file });
}

const verify = (program: Program) => program.call('POST', '/auth/verify', bearer(secret), { credential: secret });

/** Two instances, of which one applies the file. A deleted key stays deleted after a start and a command with the same file. */
export async function assertAppliedOnce(kind: Dialect): Promise<void> {
  using folder = newFolder();
  await using place = await newPlace(kind);
  const environment: Environment = { ...place.environment, KEYREEVE_BOOTSTRAP: folder.file };
  const start = (): Promise<Program> => startProgram(folder.path, environment);
  const started = await Promise.all([start(), start()]);
  await using one = started[0];
  await using other = started[1];
  const records = started.flatMap((program) => program.records('file_applied'));
  assert.deepEqual(
    records.map(({ generation, steps }) => [generation, (steps as object[]).length]),
    [[1, 4]],
  );
  for (const program of started) {
    const { status, text } = await verify(program);
    assert.equal(status, 200, text);
    assert.match(text, /"valid":true.*"scopes":\["keyreeve:verify","orders:read"\]/);
  }
  const { id } = records
    .flatMap(({ steps }) => steps as { kind: string; id: string }[])
    .find((step) => step.kind === 'key')!;
  const deleted = await one.command(['key', 'delete', id, '--yes']);
  assert.equal(deleted.status, 0, deleted.stderr);
  for (const program of started) assert.equal((await verify(program)).status, 401);
  await other.stop();
  await using restarted = await start();
  assert.equal((await verify(restarted)).status, 401);
  assert.deepEqual(restarted.records('file_applied'), []);
  const again = await restarted.command(['apply', '-f', folder.file, '--json']);
  assert.deepEqual(
    (JSON.parse(again.stdout) as { steps: { change: string; id: string }[] }).steps.map((step) => [
      step.change,
      step.id,
    ]),
    [['keep_deleted', id]],
  );
  assert.equal((await verify(restarted)).status, 401);
}
