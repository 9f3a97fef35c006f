/** The pods of the Helm chart as containers: with exactly the variables and volumes that the chart renders, except the ports. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { enableTls } from '../../test-kit/postgres/tls.ts';
import { writePrivateAuthority } from '../../test-kit/private-authority.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { manifestsOf, podOf, required, skip, type Pod, type Values } from '../docs/helm-chart.ts';
import { FaultProxy } from '../revocation-check/fault-proxy.ts';
import { imageUser } from '../../../../scripts/package-image.ts';
import { Image, outside, skipWithout, writeSecretVolume, type Mount } from './container.ts';
import { newProgram, type Environment } from './program.ts';

const masterKey = randomBytes(32).toString('base64url');
/** Of objects, by name and key. */
type Objects = Readonly<Record<string, Readonly<Record<string, string>>>>;

const withDatabase = (more: Values): Values => ({
  ...required,
  database: { kind: 'postgres', urlSecret: { name: 'keyreeve', key: 'url' }, ...more },
  deletionJournal: { existingClaim: 'deletions' },
});

suite('the pods of the Helm chart', { skip: skipWithout('images') || skip }, () => {
  const image = new Image();
  let folder: TempFolder;
  let server: PostgresServer;
  let objects: Objects;
  let url: string;

  before(async () => {
    folder = newTempFolder();
    chmodSync(folder.path, 0o755);
    writePrivateAuthority(folder.path);
    server = await PostgresServer.start();
    await enableTls(server, folder.path);
    const database = new URL((await server.createDatabase()).url);
    database.hostname = '127.0.0.1';
    url = `${database.href}?sslmode=verify-full`;
    objects = {
      keyreeve: { 'master-key': masterKey, url },
      'database-ca': { 'ca.crt': readFileSync(join(folder.path, 'ca.crt'), 'utf8') },
    };
    await image.build();
  });
  after(async () => {
    image[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** A folder for each volume, as the kubelet prepares it. The harness has one for /tmp. */
  function mountsOf({ containers: [container], volumes = [] }: Pod, name: string): Mount[] {
    const newFolder = (volume: string): string => {
      const path = join(folder.path, name, volume);
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o755);
      return path;
    };
    return container!.volumeMounts!.flatMap(({ name: volume, mountPath, readOnly = false }): Mount[] => {
      if (mountPath === '/tmp') return [];
      const source = newFolder(volume);
      for (const projected of volumes.find((each) => each.name === volume)?.projected?.sources ?? []) {
        const [{ name: object, items }] = Object.values(projected as Record<string, Projection>) as [Projection];
        for (const { key, path } of items) writeSecretVolume(source, path, objects[object]![key]!, imageUser);
      }
      if (!readOnly) chownSync(source, outside(imageUser), outside(imageUser));
      return [{ source, destination: mountPath, isWritable: !readOnly }];
    });
  }

  function start(values: Values, name: string): ReturnType<Image['start']> {
    const pod = podOf(manifestsOf(values));
    const rendered = pod.containers[0]!.env!.map((variable) => [variable.name, variable.value]);
    const ports = { KEYREEVE_PORT: '0', KEYREEVE_ADMIN_PORT: '0' };
    return image.start(mountsOf(pod, name), { ...(Object.fromEntries(rendered) as Environment), ...ports });
  }

  test('verify-full accepts the certificate of the authority in database.ca, and no other', async () => {
    for (const ca of [{ secret: 'database-ca' }, { configMap: 'database-ca' }]) {
      await using container = start(withDatabase({ ca }), Object.keys(ca).join());
      const { program } = container;
      await program.waitForRecord('listening');
      assert.equal((await program.call('GET', '/health/ready')).status, 200);
    }
    await using without = start(withDatabase({}), 'without');
    const { status, stderr } = await without.program.exited();
    assert.notEqual(status, 0);
    assert.match(stderr, /unable to verify the first certificate.*KEYREEVE_DATABASE_CA/);
  });

  test('`helm test` accepts a service that rejects a made-up key, and fails for others', async () => {
    const values = withDatabase({ ca: { secret: 'database-ca' } });
    const [hook] = manifestsOf(values).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');
    const { command = [], args = [] } = (hook!.spec as unknown as Pod).containers[0]!;
    const [script = '', ...urls] = args;
    assert.deepEqual(urls, ['http://release-keyreeve:80', 'http://release-keyreeve:80', 'krv']);
    await using container = start(values, 'tested');
    await container.program.waitForRecord('listening');
    const verdictOn = (service: string, verification = service) =>
      container.exec([...command, script, service, verification, 'krv']);

    const passed = await verdictOn(container.program.url);
    assert.deepEqual([passed.status, passed.stderr], [0, '']);
    assert.match(passed.stdout, /\/health\/ready: 200, expected 200\n.*\/auth\/forward: 401, expected 401\n$/);

    // What would accept every key.
    const open = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(open, 'listening');
    const accepting = `http://127.0.0.1:${(open.address() as AddressInfo).port}`;
    assert.equal((await verdictOn(container.program.url, accepting)).status, 1);
    open.close();

    await server.stop();
    const unready = await verdictOn(container.program.url);
    assert.equal(unready.status, 1);
    assert.match(unready.stdout, /\/health\/ready: 503, expected 200/);
    await server.startAgain();
  });
});

interface Projection {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
}

test('a database that responds after 1.2 seconds leaves the service ready, and a silent one does not', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  await using program = await newProgram({ ...place.environment, KEYREEVE_DATABASE_URL: proxy.through(place.url) });
  const ready = async (): Promise<number> => (await program.call('GET', '/health/ready')).status;

  proxy.delayMs = 1_200;
  // On a busy machine, a response can arrive after the limit of the service.
  await until('the service is ready', async () => (await ready()) === 200);

  proxy.isBlackHole = true;
  assert.equal(await ready(), 503);
  proxy.clearFaults();
  await until('the service is ready again', async () => (await ready()) === 200);
});
