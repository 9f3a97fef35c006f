/**
 * An npm registry on the loopback interface: the dependencies of production of a package under test, which it packs from the checkout's
 * `node_modules`. Of packages for other platforms it has only the manifests. It has no package of this project.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LockFile, Manifest } from '../../../../scripts/package-manifest.ts';

interface Release {
  readonly manifest: Manifest;
  /** A folder to pack. */
  readonly path: string;
}

export interface RegistryContent {
  readonly checkout: string;
  readonly locks: readonly LockFile[];
  /** Folders instead of those in `node_modules`, by the names of the packages. */
  readonly replaced?: ReadonlyMap<string, string>;
}

export interface Registry extends AsyncDisposable {
  readonly url: string;
}

export async function startRegistry(content: RegistryContent): Promise<Registry> {
  const releases = releasesOf(content);
  const server = createServer((request, response) => {
    void respond(releases, request.url ?? '/', `http://${request.headers.host}`, response).catch(() =>
      response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function releasesOf({ checkout, locks, replaced }: RegistryContent): ReadonlyMap<string, Release[]> {
  const packages = new Map(locks.flatMap((lock) => Object.entries(lock.packages)));
  const releases = [...packages].flatMap(([path, { version, integrity: _integrity, ...members }]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    if (name === '' || version === undefined) return [];
    return [{ manifest: { ...members, name, version }, path: replaced?.get(name) ?? join(checkout, path) }];
  });
  return Map.groupBy(releases, (release) => release.manifest.name);
}

/** `/<name>` is the list of a package's versions; `/<name>/-/<version>.tgz` is an archive. */
async function respond(
  releases: ReadonlyMap<string, Release[]>,
  url: string,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const [name = '', file] = decodeURIComponent(url.slice(1)).split('/-/');
  const found = releases.get(name);
  const release = found?.find(({ manifest }) => file === `${manifest.version}.tgz`);
  if (!found || (file !== undefined && (!release || !existsSync(release.path)))) {
    response.writeHead(404).end('{}');
  } else if (release) {
    await sendArchive(release.path, response);
  } else {
    const versions = found.map(({ manifest }) => [
      manifest.version,
      { ...manifest, dist: { tarball: `${origin}/${name}/-/${manifest.version}.tgz` } },
    ]);
    const latest = found[0]?.manifest.version;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  }
}

async function sendArchive(path: string, response: ServerResponse): Promise<void> {
  // Not compressed: the bundled Node has 120 MB. Its headers and manual pages are not needed.
  const excluded = ['node_modules', 'include', 'share'].map((folder) => `--exclude=${basename(path)}/${folder}`);
  const tar = spawn('tar', ['-cf', '-', ...excluded, '-C', dirname(path), basename(path)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await pipeline(tar.stdout, response);
}
