/** Backups in S3-compatible storage, uploaded with a key that may only write. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { BackupError } from '../../src/modules/backup/format.ts';
import { openUpload, partBytes, type ObjectStorage } from '../../src/modules/backup/object-storage.ts';
import {
  bucket,
  startBrokenNetwork,
  startChangingNetwork,
  startStorage,
  type RunningStorage,
} from './object-storage.ts';
import { newProgram, runProgram } from './program.ts';
import { findProgram } from './proxy-kit.ts';
import { valuesOf } from './scrape.ts';

const program = findProgram('moto_server');
assert.ok(program !== undefined || process.env['CI'] !== 'true', 'moto_server is not installed, but CI requires it');
const skip = program === undefined && 'moto_server is not installed';

suite('with a key that may only write', { skip }, () => {
  let storage: RunningStorage;
  before(async () => (storage = await startStorage(program ?? '')));
  after(() => storage[Symbol.asyncDispose]());

  const content = randomFillSync(Buffer.alloc(2 * partBytes + 1));
  async function* chunksOf(length: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < length; from += 2 ** 16) yield content.subarray(from, Math.min(from + 2 ** 16, length));
  }

  const waits: number[] = [];
  const upload = async (name: string, bytes: AsyncIterable<Uint8Array>, by: ObjectStorage): Promise<void> => {
    const wait = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
    await (
      await openUpload({ storage: by, bucket, name }, wait)
    )(bytes);
  };

  for (const length of [1, partBytes - 1, partBytes, partBytes + 1, content.length])
    test(`an object of ${length} bytes is what was sent`, async () => {
      await upload(`of-${length}`, chunksOf(length), storage.writer);
      assert.ok((await storage.read(`of-${length}`)).equals(content.subarray(0, length)));
    });

  test('at most one part is read ahead', async () => {
    await using network = await startBrokenNetwork(storage.port, partBytes);
    let read = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunksOf(content.length)) {
        read += chunk.length;
        yield chunk;
      }
    }
    await assert.rejects(upload('ahead', counted(), { ...storage.writer, endpoint: network.endpoint }));
    assert.ok(read <= partBytes + 2 ** 16, String(read));
  });

  test('an upload whose connection breaks once repeats the request', async () => {
    await using network = await startBrokenNetwork(storage.port, 2 ** 20, 2);
    waits.length = 0;
    await upload('repeated', chunksOf(content.length), { ...storage.writer, endpoint: network.endpoint });
    assert.deepEqual(waits, [1_000, 3_000]);
    assert.ok((await storage.read('repeated')).equals(content));
  });

  test('an upload whose connection breaks each time fails, and leaves no object', async () => {
    await using network = await startBrokenNetwork(storage.port, partBytes + 2 ** 20);
    waits.length = 0;
    const sent = upload('broken', chunksOf(content.length), { ...storage.writer, endpoint: network.endpoint });
    await assert.rejects(
      sent,
      (error) =>
        error instanceof BackupError && error.message.startsWith(`no backup was uploaded to s3://${bucket}/broken: `),
    );
    assert.deepEqual(waits, [1_000, 3_000, 9_000]);
    assert.ok(!(await storage.list()).includes('broken'));
  });

  test('if the backup fails after some parts, there is no object', async () => {
    const failed = new Error('the database has gone');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* chunksOf(partBytes + 1);
      throw failed;
    }
    await assert.rejects(upload('incomplete', failing(), storage.writer), failed);
    assert.ok(!(await storage.list()).includes('incomplete'));
  });

  test('a part that arrives changed, at a storage that does not return its checksum, is no backup', async () => {
    await using network = await startChangingNetwork(storage.port, 'sent content', 'lost content');
    const by = { ...storage.writer, endpoint: network.endpoint };
    const sent = (text: string): AsyncIterable<Uint8Array> => Readable.from([Buffer.from(text)]);
    await upload('unchanged', sent('other content'), by);
    await assert.rejects(upload('changed', sent('sent content'), by), /did not confirm the checksum of part 1/);
    assert.deepEqual(
      (await storage.list()).filter((name) => name.endsWith('changed')),
      ['unchanged'],
    );
  });

  test('the command uploads a backup, records it and names what is wrong', async () => {
    await using keyreeve = await newProgram();
    await keyreeve.newKey();
    const secret = join(keyreeve.folder, 'secret');
    writeFileSync(secret, storage.writer.secretAccessKey, { mode: 0o600 });
    const environment = {
      KEYREEVE_STORAGE_ENDPOINT: storage.writer.endpoint,
      KEYREEVE_STORAGE_ACCESS_KEY_ID: storage.writer.accessKeyId,
      KEYREEVE_STORAGE_SECRET_ACCESS_KEY_FILE: secret,
    };
    const failures: readonly (readonly [name: string, changes: Readonly<Record<string, string>>, to: string])[] = [
      ['InvalidAccessKeyId', { KEYREEVE_STORAGE_ACCESS_KEY_ID: 'unknown' }, bucket],
      ['AccessDenied', keysOf(storage.reader), bucket],
      ['SignatureDoesNotMatch', { ...keysOf(storage.writer), KEYREEVE_STORAGE_SECRET_ACCESS_KEY: 'wrong' }, bucket],
      ['NoSuchBucket', {}, 'other-bucket'],
    ];
    for (const [name, changes, to] of failures) {
      const { folder } = keyreeve;
      const command = ['backup', '--to', `s3://${to}/nightly`];
      const result = await runProgram(command, { folder, environment: { ...environment, ...changes } });
      assert.deepEqual([result.status, result.stdout], [1, ''], name);
      assert.match(
        result.stderr,
        new RegExp(`^keyreeve: no backup was uploaded to s3://${to}/nightly/\\S+: ${name}: `),
      );
    }
    assert.deepEqual(await valuesOf(keyreeve, 'keyreeve_backup_last_success_timestamp_seconds'), [0]);
    keyreeve.environment = environment;
    const made = await keyreeve.command(['backup', '--to', `s3://${bucket}/nightly`, '--json']);
    assert.deepEqual([made.status, made.stderr], [0, '']);
    const name = (JSON.parse(made.stdout) as { readonly path: string }).path.slice(`s3://${bucket}/`.length);
    assert.match(name, /^nightly\/keyreeve-[0-9a-f]{8}-\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{4}-[0-9a-f]{16}\.gz$/);
    assert.deepEqual(
      (await storage.list()).filter((one) => one.startsWith('nightly')),
      [name],
    );
    const [recorded = 0] = await valuesOf(keyreeve, 'keyreeve_backup_last_success_timestamp_seconds');
    assert.ok(recorded > 0);
    const copy = join(keyreeve.folder, 'copy.gz');
    writeFileSync(copy, await storage.read(name));
    const restored = await keyreeve.command(['restore', '--from', copy, '--replace', '--yes']);
    assert.equal(restored.status, 0, restored.stderr);
  });
});

/** With the secret instead of its file. */
const keysOf = ({ accessKeyId, secretAccessKey }: ObjectStorage): Readonly<Record<string, string>> => ({
  KEYREEVE_STORAGE_ACCESS_KEY_ID: accessKeyId,
  KEYREEVE_STORAGE_SECRET_ACCESS_KEY: secretAccessKey,
  KEYREEVE_STORAGE_SECRET_ACCESS_KEY_FILE: '',
});
