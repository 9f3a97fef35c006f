/** The chart of a release: its archive renders what the folder renders, and Helm pulls its layout from a registry. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { buildChart } from '../../../../scripts/package-chart.ts';
import { commitOf } from '../../../../scripts/release-time.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { ReadLayout, type ReadManifest } from '../e2e/oci-layout.ts';
import { chart, postgres, skip } from './helm-chart.ts';
import { root } from './shell-blocks.ts';

/** The part of a registry (https://github.com/opencontainers/distribution-spec) from which programs pull. */
async function serve(layout: ReadLayout, manifest: ReadManifest): Promise<Server> {
  const described = [layout.root, manifest.config, ...manifest.layers];
  const server = createServer((request, response) => {
    const [, reference] = /^\/v2\/charts\/keyreeve\/(?:manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? [];
    const tag = layout.root.annotations?.['org.opencontainers.image.ref.name'];
    const found = reference === tag ? layout.root : described.find(({ digest }) => digest === reference);
    if (found === undefined) return response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': found.mediaType,
      'content-length': found.size,
      'docker-content-digest': found.digest,
    });
    return response.end(request.method === 'HEAD' ? undefined : layout.blob(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function helm(...args: readonly string[]): Promise<string> {
  const child = spawn('helm', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, messages] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  // It names links to files, which is no failure.
  child.stderr.setEncoding('utf8').on('data', (text) => (messages += text));
  const [status] = (await once(child, 'close')) as [number];
  assert.equal(status, 0, output + messages);
  return output;
}

suite('the chart of a release', { skip }, () => {
  test('is an archive that renders what the folder renders, and that Helm accepts', async () => {
    using folder = newTempFolder();
    const [archive = '', again] = [join(folder.path, 'one'), join(folder.path, 'two')].map(
      (to) => buildChart(root, to)[0],
    );
    assert.deepEqual(readFileSync(archive), readFileSync(again ?? ''));
    const values = join(folder.path, 'values.json');
    // With the files of other folders.
    const isEnabled = { enabled: true };
    writeFileSync(values, JSON.stringify({ ...postgres, prometheusRule: isEnabled, grafanaDashboard: isEnabled }));
    const rendered = (from: string): Promise<string> => helm('template', 'keyreeve', from, '--values', values);
    assert.equal(await rendered(archive), await rendered(chart));
    assert.match(await rendered(archive), /KeyreeveBackupOld/);
    await helm('lint', '--strict', archive, '--values', values);
    const listed = spawnSync('tar', ['-tzf', archive], { encoding: 'utf8' }).stdout.split('\n');
    assert.ok(listed.includes('keyreeve/LICENSE') && listed.includes('keyreeve/values.schema.json'));
  });

  test('is a layout that Helm pulls from a registry, and whose changed bytes are rejected', async () => {
    using folder = newTempFolder();
    const [archive = '', path = ''] = buildChart(root, join(folder.path, 'built'));
    const layout = new ReadLayout(path, join(folder.path, 'layout'));
    const manifest = layout.read(layout.root) as ReadManifest;
    assert.deepEqual(
      [layout.root.mediaType, manifest.config.mediaType, manifest.layers.map(({ mediaType }) => mediaType)],
      [
        'application/vnd.oci.image.manifest.v1+json',
        'application/vnd.cncf.helm.config.v1+json',
        ['application/vnd.cncf.helm.chart.content.v1.tar+gzip'],
      ],
    );
    const { name, version, appVersion } = layout.read(manifest.config) as Readonly<Record<string, string>>;
    assert.deepEqual([name, appVersion], ['keyreeve', version]);
    assert.equal(manifest.annotations['org.opencontainers.image.revision'], commitOf(root).revision);

    const server = await serve(layout, manifest);
    try {
      const { port } = server.address() as AddressInfo;
      const from = [`oci://127.0.0.1:${port}/charts/keyreeve`, '--version', version ?? '', '--plain-http'];
      await helm('pull', ...from, '--destination', folder.path);
      assert.deepEqual(readFileSync(join(folder.path, `keyreeve-${version}.tgz`)), readFileSync(archive));
    } finally {
      server.close();
    }

    const blob = join(folder.path, 'layout/blobs', manifest.layers[0]?.digest.replace(':', '/') ?? '');
    const changed = readFileSync(blob);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    writeFileSync(blob, changed);
    assert.throws(() => layout.blob(manifest.layers[0] ?? layout.root), /^Error: sha256:\w+ has other bytes$/);
  });
});
