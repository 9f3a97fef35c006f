/**
 * The pods of the Helm chart and the services of the Compose file as containers of the image: with exactly the variables and volumes
 * that these name, except the ports.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { enableTls } from '../../test-kit/postgres/tls.ts';
import { writePrivateAuthority } from '../../test-kit/private-authority.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { keyreeve, secretsScript, services, type ComposeService } from '../docs/compose-file.ts';
import { manifestsOf, podOf, required, skip, type Pod, type Values } from '../docs/helm-chart.ts';
import { imageUser } from '../../../../scripts/package-image.ts';
import { outside, writeSecretVolume, type Image, type Mount } from './container.ts';
import type { Environment } from './program.ts';

const masterKey = randomBytes(32).toString('base64url');
/** Of objects, by name and key. */
type Objects = Readonly<Record<string, Readonly<Record<string, string>>>>;

const withDatabase = (more: Values): Values => ({
  ...required,
  database: { kind: 'postgres', urlSecret: { name: 'keyreeve', key: 'url' }, ...more },
  deletionJournal: { existingClaim: 'deletions' },
});

/** @param image is built when the tests run */
export function testOrchestration(image: Image): void {
  suite('containers as orchestrators start them', { skip }, () => testsOf(image));
}

function testsOf(image: Image): void {
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
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  function newFolder(...names: readonly string[]): string {
    const path = join(folder.path, ...names);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    return path;
  }

  /** A folder for each volume, as the kubelet prepares it. The harness has one for /tmp. */
  function mountsOf({ containers: [container], volumes = [] }: Pod, name: string): Mount[] {
    return container!.volumeMounts!.flatMap(({ name: volume, mountPath, readOnly = false }): Mount[] => {
      if (mountPath === '/tmp') return [];
      const source = newFolder(name, volume);
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

  test('the services of the Compose file start with the secrets that the first one creates', async () => {
    const project = newFolder('compose');
    for (const name of ['secrets', 'backups']) newFolder('compose', name);
    const script = secretsScript
      .replaceAll(/(?<= )\/(?=secrets|backups)/g, `${project}/`)
      .replaceAll('65532', String(outside(imageUser)));
    const createSecrets = (): string[] => {
      execFileSync('sh', ['-euc', script], { stdio: 'pipe' });
      return ['keyreeve/master-key', 'keyreeve/database-url', 'postgres/password'].map((path) =>
        readFileSync(join(project, 'secrets', path), 'utf8'),
      );
    };
    const first = createSecrets();
    const [, databaseUrl = '', password = ''] = first;
    assert.equal(new URL(databaseUrl).password, password);
    assert.match(password, /^[0-9A-F]{48}$/);
    assert.deepEqual(createSecrets(), first, 'a later start keeps them');

    // The server of this test instead of the service.
    const ownUrl = `${(await server.createDatabase()).url}?sslmode=disable`;
    writeFileSync(join(project, 'secrets/keyreeve/database-url'), ownUrl);
    const startService = ({ volumes = [], environment = {}, command }: ComposeService) => {
      const mounts = volumes.map((volume): Mount => {
        const [source = '', destination = '', mode] = volume.split(':');
        if (source.startsWith('.')) return { source: join(project, source), destination, isWritable: mode !== 'ro' };
        const path = newFolder('compose', source);
        chownSync(path, outside(imageUser), outside(imageUser));
        return { source: path, destination, isWritable: true };
      });
      return image.start(mounts, { ...environment, KEYREEVE_PORT: '0', KEYREEVE_ADMIN_PORT: '0' }, command);
    };
    await using container = startService(keyreeve);
    await container.program.waitForRecord('listening');
    const { port } = new URL(container.program.adminUrl);
    const [, ...check] = keyreeve.healthcheck!.test!.map((word) => word.replace('8788', port));
    assert.equal((await container.exec(check)).status, 0);
    const created = await container.exec(['keyreeve', 'account', 'create', 'you@example.com', '--admin', '--generate']);
    assert.equal(created.status, 0, created.stderr);

    await using job = startService(services['backup']!);
    assert.equal((await job.program.exited()).status, 0, job.program.stderr);
    assert.equal(readdirSync(join(project, 'backups')).length, 1);

    await server.stop();
    assert.equal((await container.exec(check)).status, 1);
    await server.startAgain();
  });
}

interface Projection {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
}
