/** The pages of the console and their files: contents, headers and caching. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assertProblem, fromWire } from '../../../../test-kit/assert-problem.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ask, head, type RawAnswer } from '../../../../test-kit/raw-http.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { newConsoleFolder, sampleFiles, sampleScript } from './sample-console.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const contentTypes: Readonly<Record<string, string>> = {
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'licences.txt': 'text/plain; charset=utf-8',
  'app.webmanifest': 'application/manifest+json',
  'text.woff2': 'font/woff2',
};

/** A response with its content as sent: `fetch` would decompress it. */
const get = (app: TestApp, path: string, ...headers: readonly string[]): Promise<RawAnswer> =>
  ask(app.url, head(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers));

const headerOf = ({ headers }: RawAnswer, name: string): string | undefined => headers.get(name)?.join();

async function buildOf(app: TestApp): Promise<string> {
  const { body } = await get(app, '/console');
  return /\/console\/assets\/([\w-]+)\/app\.js/.exec(body)?.[1] ?? '';
}

test(
  'every page path of the console returns the same page, with its policy and the hash of the files',
  { tags: ['asvs:3.4.3', 'asvs:3.7.1'] },
  async () => {
    using folder = newConsoleFolder();
    await using app = await newApp({ consoleFolder: folder.path });
    const page = await get(app, '/console');
    assert.equal(page.status, 200);
    assert.match(
      page.body,
      /^<!doctype html>\n<script type="module" src="\/console\/assets\/[\w-]{22}\/app\.js"><\/script>\n$/,
    );
    const expected = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'set-cookie': undefined,
      'access-control-allow-origin': undefined,
    };
    const paths = ['', '/', '/keys', '/keys/7?a=b', '/a/b/c/d', '/apis', '/%61pi'];
    for (const path of paths) {
      const answer = await get(app, `/console${path}`);
      assert.deepEqual([answer.status, answer.body], [200, page.body], path);
      for (const [name, value] of Object.entries(expected))
        assert.equal(headerOf(answer, name), value, `${path} ${name}`);
    }
    const answer = await fetch(new URL('/console/keys', app.url), { method: 'HEAD' });
    assert.deepEqual([answer.status, answer.headers.get('content-security-policy')], [200, policy]);
  },
);

test('the files of the package are served', async () => {
  await using app = await newApp();
  const { status, body } = await get(app, '/console');
  const urls = [...body.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
  assert.equal(status, 200);
  assert.ok(urls.some((url) => url.endsWith('/app.js')));
  for (const url of urls) {
    const file = await get(app, url);
    assert.deepEqual([file.status, headerOf(file, 'cache-control')], [200, 'public, max-age=31536000, immutable'], url);
  }
});

test('each file has its type, and is cached for a year', async () => {
  using folder = newConsoleFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const build = await buildOf(app);
  for (const [name, contentType] of Object.entries(contentTypes)) {
    const answer = await get(app, `/console/assets/${build}/${name}`);
    assert.deepEqual(Buffer.from(answer.body, 'latin1'), Buffer.from(sampleFiles[name] ?? ''), name);
    assert.deepEqual(
      ['content-type', 'cache-control', 'content-encoding', 'vary', 'x-content-type-options'].map((header) =>
        headerOf(answer, header),
      ),
      [contentType, 'public, max-age=31536000, immutable', undefined, 'Accept-Encoding', 'nosniff'],
      name,
    );
    assert.match(headerOf(answer, 'content-security-policy') ?? '', /^default-src 'none';.* sandbox$/);
  }
});

test('the URL of another build returns the current file, which the client must not keep', async () => {
  using folder = newConsoleFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  for (const build of ['0', 'AAAAAAAAAAAAAAAAAAAAAA', 'x'.repeat(500)]) {
    const answer = await get(app, `/console/assets/${build}/app.js`);
    assert.deepEqual(
      [answer.status, answer.body, headerOf(answer, 'cache-control')],
      [200, sampleScript, 'no-cache'],
      build,
    );
  }
});

test('every file is part of the hash, also its name', async () => {
  const changes: readonly (typeof sampleFiles)[] = [
    {},
    { 'app.js': `${sampleScript} ` },
    { 'index.html': `${String(sampleFiles['index.html'])}<p>` },
    { 'app.css': '' },
    { 'new.js': '' },
    { 'new.css': '' },
  ];
  const builds = new Set<string>();
  for (const changed of changes) {
    using folder = newConsoleFolder(changed);
    await using app = await newApp({ consoleFolder: folder.path });
    builds.add(await buildOf(app));
  }
  assert.equal(builds.size, changes.length);
});

test('a client that accepts Brotli or gzip gets compressed files, if they are smaller', async () => {
  using folder = newConsoleFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const build = await buildOf(app);
  const encodings = [
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.1', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', undefined],
    ['', undefined],
    [`br,${'gzip,'.repeat(300)}`, undefined],
  ] as const;
  for (const [accepted, expected] of encodings) {
    const answer = await get(app, `/console/assets/${build}/app.js`, `Accept-Encoding: ${accepted}`);
    const bytes = Buffer.from(answer.body, 'latin1');
    assert.equal(headerOf(answer, 'content-encoding'), expected, accepted);
    const decompress = { br: brotliDecompressSync, gzip: gunzipSync };
    assert.equal(String(expected === undefined ? bytes : decompress[expected](bytes)), sampleScript, accepted);
    assert.equal(headerOf(answer, 'vary'), 'Accept-Encoding');
  }
  const page = await get(app, '/console', 'Accept-Encoding: br');
  assert.equal(page.status, 200);
  const random = await get(app, `/console/assets/${build}/text.woff2`, 'Accept-Encoding: br');
  assert.deepEqual([random.body.length, headerOf(random, 'content-encoding')], [64, undefined]);
});

test('the files are read once, at the first request', async () => {
  using folder = newConsoleFolder();
  const { path } = folder;
  rmSync(join(path, 'app.js'));
  await using app = await newApp({ consoleFolder: path });
  writeFileSync(join(path, 'app.js'), sampleScript);
  const build = await buildOf(app);
  writeFileSync(join(path, 'app.js'), 'changed');
  rmSync(join(path, 'index.html'));
  const pages = await Promise.all(Array.from({ length: 20 }, () => get(app, '/console')));
  assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([200]));
  assert.equal((await get(app, `/console/assets/${build}/app.js`)).body, sampleScript);
});

test('without the files, pages return 503, which is logged once, and the API works', async () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'dist');
  await using app = await newApp({ consoleFolder: path });
  for (let i = 0; i < 3; i++) {
    const answer = await get(app, '/console/keys');
    assert.deepEqual([answer.status, headerOf(answer, 'content-type')], [503, 'text/plain; charset=utf-8']);
    assert.match(answer.body, /^The console is not built\. .* run `npm ci --include=dev && npm run build`, /);
    assert.match(headerOf(answer, 'content-security-policy') ?? '', /sandbox$/);
    assertProblem(fromWire(await get(app, '/console/assets/x/app.js')), 'not_found');
  }
  assert.equal(app.logLines.filter((line) => line.includes('"console_files_missing"')).length, 1);
  assert.equal((await app.call('GET', '/health/ready')).status, 200);
  mkdirSync(path);
  writeFileSync(join(path, 'app.js'), sampleScript);
  assert.equal((await get(app, '/console')).status, 503, 'without a page');
  writeFileSync(join(path, 'index.html'), '<p>');
  assert.equal((await get(app, '/console')).status, 200);
});
