/** The key page, its files, and the script of its element: which page can show them, and with which headers. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as nodeTest } from 'node:test';
import { isBounded } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { hostOrigin, newPortalBackend, redeem, tokenOf } from '../../../../test-kit/portal.ts';
import { ask, head, type RawAnswer } from '../../../../test-kit/raw-http.ts';
import { newTempFolder, type TempFolder } from '../../../../test-kit/temp-folder.ts';
import { BuiltFiles } from '../../../http/built-files.ts';
import { portalPageRoutes } from '../page-routes.ts';

const template = `<!doctype html>
<meta name="keyreeve-origin" content="{{origin}}"><meta name="keyreeve-display" content="{{display}}">
<script type="module" src="/portal/assets/0/portal.js"></script>
`;

function newFolder(): TempFolder {
  const folder = newTempFolder();
  const portal = join(folder.path, 'portal');
  mkdirSync(portal);
  writeFileSync(join(folder.path, 'index.html'), '<!doctype html>\n');
  writeFileSync(join(portal, 'index.html'), template);
  writeFileSync(join(portal, 'portal.js'), 'export {};');
  writeFileSync(join(portal, 'start.css'), 'p{}');
  writeFileSync(join(portal, 'keys.js'), 'customElements;');
  return folder;
}

const get = (app: TestApp, path: string, ...headers: readonly string[]): Promise<RawAnswer> =>
  ask(app.url, head(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers));
const headerOf = ({ headers }: RawAnswer, name: string): string | undefined => headers.get(name)?.join();
const policyFor = (ancestors: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}; require-trusted-types-for 'script'; trusted-types 'none'`;

test('only the origin of the session can show the key page, which states that origin', async () => {
  using folder = newFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const backend = await newPortalBackend(app);
  const session = await backend.create();
  const answer = await get(app, `/portal/${session.id}`, 'Sec-Fetch-Dest: iframe');
  assert.equal(answer.status, 200);
  assert.match(answer.body, /name="keyreeve-origin" content="https:\/\/app\.example\.com"/);
  assert.match(answer.body, /name="keyreeve-display" content="frame"/);
  assert.match(answer.body, /src="\/portal\/assets\/[\w-]{22}\/portal\.js"/);
  assert.ok(!answer.body.includes(tokenOf(session)) && !answer.body.includes('{{'));
  const expected = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyFor(hostOrigin),
    'cache-control': 'no-store',
    'x-frame-options': undefined,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'cross-origin',
    'origin-agent-cluster': '?1',
    'permissions-policy': 'clipboard-write=(self)',
    'set-cookie': undefined,
    'access-control-allow-origin': undefined,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(headerOf(answer, name), value, name);
  // After the use of the token, too: the page then says that it must be loaded again.
  assert.equal((await redeem(app, session)).status, 201);
  assert.equal((await get(app, `/portal/${session.id}`)).status, 200);
});

test('a key page that is a page of its own cannot be shown in a frame', async () => {
  using folder = newFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const { id } = await (await newPortalBackend(app)).create({ origin: undefined, returnUrl: `${hostOrigin}/a` });
  const answer = await get(app, `/portal/${id}`, 'Sec-Fetch-Dest: document');
  assert.deepEqual([answer.status, headerOf(answer, 'content-security-policy')], [200, policyFor("'none'")]);
  assert.match(answer.body, /"keyreeve-origin" content=""><meta name="keyreeve-display" content="page"/);
});

test('the key page opens nowhere else, and an ended session has none', async () => {
  using folder = newFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const backend = await newPortalBackend(app);
  const frame = await backend.create();
  const page = await backend.create({ origin: undefined, returnUrl: `${hostOrigin}/a` });
  const ended = await backend.create();
  await app.call('DELETE', `/auth/portal-sessions/${ended.id}`, { headers: backend.headers });
  const cases: readonly (readonly [id: string, destination: string, status: number])[] = [
    ...['document', 'empty', 'object', 'embed', 'frame', 'fencedframe', 'script', ''].map(
      (destination) => [frame.id, destination, 403] as const,
    ),
    ...['iframe', 'empty', 'frame'].map((destination) => [page.id, destination, 403] as const),
    [ended.id, 'iframe', 404],
    [`por_${'0'.repeat(22)}`, 'iframe', 404],
    ['unknown', 'document', 404],
    ['%00', 'iframe', 404],
  ];
  for (const [id, destination, status] of cases) {
    const answer = await get(app, `/portal/${id}`, `Sec-Fetch-Dest: ${destination}`);
    const what = `${id} ${destination}`;
    assert.deepEqual([answer.status, headerOf(answer, 'content-type')], [status, 'text/plain; charset=utf-8'], what);
    assert.match(headerOf(answer, 'content-security-policy') ?? '', /frame-ancestors 'none'; sandbox$/, what);
    assert.ok(!answer.body.includes('script'), what);
  }
  await app.service.services.accounts.disable(operator, backend.serviceId);
  assert.equal((await get(app, `/portal/${frame.id}`, 'Sec-Fetch-Dest: iframe')).status, 404);
});

nodeTest(
  'requests for the key page are bounded, because each reads the database, and those for its files are not',
  () => {
    const files = new BuiltFiles({ folder: () => '', onMissing: () => undefined, edit: (text) => text });
    const routes = portalPageRoutes({ find: () => Promise.resolve(undefined) }, files);
    assert.deepEqual(
      routes.map(({ contract }) => [contract.path, isBounded(contract)]),
      [
        ['/portal/:id', true],
        ['/portal/assets/:build/:name', false],
        ['/portal/keys.js', false],
      ],
    );
  },
);

test('the files of the key page are cached, and pages of all origins can load the script of the element', async () => {
  using folder = newFolder();
  const environment = { KEYREEVE_ACCENT: '#7a1fa2', KEYREEVE_CORS_ORIGINS: hostOrigin };
  await using app = await newApp({ consoleFolder: folder.path, environment });
  const { id } = await (await newPortalBackend(app)).create();
  const { body } = await get(app, `/portal/${id}`);
  const [, build = ''] = /assets\/([\w-]{22})/.exec(body) ?? [];
  const script = await get(app, `/portal/assets/${build}/portal.js`);
  assert.deepEqual(
    [script.status, headerOf(script, 'cache-control'), headerOf(script, 'cross-origin-resource-policy')],
    [200, 'public, max-age=31536000, immutable', 'same-origin'],
  );
  const style = await get(app, `/portal/assets/${build}/start.css`);
  assert.ok(style.body.startsWith('p{}') && style.body.length > 3, 'the accent of the operator follows the style');
  const element = await get(app, '/portal/keys.js', `Origin: ${hostOrigin}`);
  assert.deepEqual(
    ['content-type', 'cross-origin-resource-policy', 'access-control-allow-origin', 'cache-control'].map((name) =>
      headerOf(element, name),
    ),
    ['text/javascript; charset=utf-8', 'cross-origin', '*', 'no-cache'],
  );
  const tag = headerOf(element, 'etag') ?? '';
  assert.equal((await get(app, '/portal/keys.js', `If-None-Match: ${tag}`)).status, 304);
  for (const path of ['/portal/assets/0/index.html', '/portal/assets/0/none.js', '/portal', '/portal/'])
    assert.equal((await get(app, path)).status, 404, path);
});

test('no other origin reads what the key page requests, whatever the operator allows others', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS: hostOrigin } });
  const headers = [`Origin: ${hostOrigin}`, 'Access-Control-Request-Method: POST'];
  for (const path of ['/auth/portal/session', '/auth/portal/api-keys']) {
    const preflight = await ask(app.url, head(`OPTIONS ${path} HTTP/1.1`, 'Host: localhost', ...headers));
    assert.equal(headerOf(preflight, 'access-control-allow-origin'), undefined, path);
    const answer = await get(app, path, `Origin: ${hostOrigin}`);
    assert.equal(headerOf(answer, 'access-control-allow-origin'), undefined, path);
  }
  assert.equal(
    headerOf(await get(app, '/auth/account', `Origin: ${hostOrigin}`), 'access-control-allow-origin'),
    hostOrigin,
  );
});

test('the host of the console has no key page, and the base path of the public URL is in all URLs', async () => {
  using folder = newFolder();
  const environment = {
    KEYREEVE_PUBLIC_URL: 'http://localhost:8787/id',
    KEYREEVE_CONSOLE_URL: 'http://console.localhost:8787',
  };
  await using app = await newApp({ consoleFolder: folder.path, environment });
  const session = await (await newPortalBackend(app)).create();
  assert.ok(session.url.startsWith(`http://localhost:8787/id/portal/${session.id}#`));
  assert.match((await get(app, `/id/portal/${session.id}`)).body, /src="\/id\/portal\/assets\/[\w-]{22}\/portal\.js"/);
  for (const path of [`/portal/${session.id}`, '/portal/keys.js', '/auth/portal/session']) {
    const answer = await ask(app.url, head(`GET ${path} HTTP/1.1`, 'Host: console.localhost:8787'));
    assert.equal(answer.status, 404, path);
  }
  assert.equal((await redeem(app, session)).status, 201);
});

test('without its files, the key page says what is missing', async () => {
  using folder = newTempFolder();
  await using app = await newApp({ consoleFolder: folder.path });
  const { id } = await (await newPortalBackend(app)).create();
  assert.equal((await get(app, `/portal/${id}`)).status, 503);
  assert.ok(app.logLines.some((line) => line.includes('portal_files_missing')));
});
