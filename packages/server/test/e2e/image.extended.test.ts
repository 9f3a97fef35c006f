/**
 * The steps of the Dockerfile without a container engine: the install script on a copy of the checkout, then the program as an
 * unprivileged user that can write only to its data folder.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { imageUser } from './container.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

/** As in .dockerignore. */
const ignored = new Set(['node_modules', '.git', 'data', 'bench', 'dist', 'docs', 'test']);

test(
  'an unprivileged user can run the installed image, with write access to its data folder only',
  { tags: ['asvs:13.2.2', 'asvs:15.2.3'] },
  async (t) => {
    using folder = newTempFolder();
    chmodSync(folder.path, 0o755);
    const app = join(folder.path, 'app');
    const data = join(folder.path, 'data');
    cpSync(checkout, app, {
      recursive: true,
      filter: (path) => relative(checkout, path) === '' || !ignored.has(basename(path)),
    });

    // Offline: `npm ci` has filled npm's cache.
    const installed = spawnSync('sh', [join(app, 'scripts/image-install.sh'), app], {
      encoding: 'utf8',
      env: { ...process.env, npm_config_offline: 'true' },
    });
    assert.equal(installed.status, 0, installed.stderr);

    mkdirSync(data, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(data, imageUser, imageUser);
    else t.diagnostic('skipped: only root can start the program as another user');
    const program = spawn(process.execPath, [join(app, 'packages/server/bin/keyreeve.js'), 'serve'], {
      ...(isRoot ? { uid: imageUser, gid: imageUser } : {}),
      env: {
        PATH: process.env['PATH'],
        KEYREEVE_PORT: '0',
        KEYREEVE_ADMIN_PORT: '0',
        KEYREEVE_DRAIN_SECONDS: '0',
        KEYREEVE_DATABASE_URL: `sqlite:${join(data, 'keyreeve.db')}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = new Promise<number | null>((resolve) => program.on('exit', resolve));
    try {
      const url = await listeningUrl(program.stdout);
      for (const path of ['/health/ready', '/console']) assert.equal((await fetch(url + path)).status, 200, path);
    } finally {
      program.kill('SIGTERM');
    }
    assert.equal(await exited, 0);
  },
);

async function listeningUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const record = JSON.parse(line) as { event?: string; url?: string };
    if (record.event === 'listening' && record.url) return record.url;
  }
  throw new Error('the program ended before it listened');
}
