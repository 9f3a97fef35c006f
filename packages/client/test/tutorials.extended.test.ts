/** The tutorials with the library for Node work as they stand in empty folders, with its archive, on each supported Node. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../server/test-kit/free-port.ts';
import { hasCurl } from '../../server/test/docs/curl-program.ts';
import { version as ownVersion } from '../../server/src/app/version.ts';
import { outputsOf, placedIn, readPage, root, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { bearer, goodPassword, newProgram, type Key } from '../../server/test/e2e/program.ts';
import { InstalledBackend } from './single-page-backend.ts';
import { nodeOfVersion, nodeVersions, TutorialFolder } from './tutorial.ts';

const express = readPage('docs/tutorials/express.md');

/** Runs the blocks of the tutorial for Express, which print what it shows. @param packages the command that builds the archives */
async function assertExpress(folder: TutorialFolder, packages?: string): Promise<void> {
  const port = String(await freePort());
  const [, script = ''] = /^ *```js\n([^]*?)^ *```$/m.exec(express) ?? [];
  writeFileSync(join(folder.path, 'server.js'), script.replaceAll(/^ {3}/gm, '').replaceAll('3000', port));
  const blocks = shellBlocks(express).map((block) =>
    placedIn(folder.path, block.replaceAll('3000', port), packages).replace(
      /^ *(KEYREEVE_URL=.*node server\.js)/m,
      'cp ../server.js .\n$1 > /dev/null',
    ),
  );
  await using program = await newProgram();
  const stop = `trap 'kill "\${SERVER:-0}" 2>/dev/null' EXIT\n`;
  const outputs = await outputsOf([folder.exports + stop + blocks[0], ...blocks.slice(1)], program);
  const shown = blocks.flatMap((block, index) => {
    const [, line] = /^ *# (.*)$/m.exec(block) ?? [];
    return line === undefined ? [] : [[line.replace('…}', ''), outputs[index] ?? ''] as const];
  });
  assert.equal(shown.length, 3);
  for (const [line, output] of shown) assert.ok(output.includes(line), `${line}\n${output}`);
}

test('the tutorial for Express works as it stands in an empty folder, with the package from its archive', async (t) => {
  if (!hasCurl(t)) return;
  await using folder = await TutorialFolder.create();
  await assertExpress(folder, `node '${root}scripts/packages.ts' '${folder.path}/dist'`);

  const dist = join(folder.path, 'dist');
  const names = readdirSync(dist).filter((name) => !name.endsWith('.whl'));
  assert.deepEqual(
    names.toSorted(),
    [
      'SHA256SUMS',
      ...['', '-client', '-elements', '-otel'].map((name) => `keyreeve${name}-${ownVersion}.tgz`),
    ].toSorted(),
  );
  const checked = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: dist, encoding: 'utf8' });
  assert.equal(
    checked.stdout,
    readdirSync(dist)
      .toSorted()
      .filter((name) => name !== 'SHA256SUMS')
      .map((name) => `${name}: OK\n`)
      .join(''),
  );
});

for (const version of nodeVersions)
  test(`the tutorials for Express and for single-page apps work as they stand with Node ${version}`, async (t) => {
    if (!hasCurl(t)) return;
    const node = nodeOfVersion(version);
    if (node === undefined) return t.skip(`Node ${version} is not in .ci/tools: not tried`);
    assert.match(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout, new RegExp(`^v${version}\\.`));
    await using folder = await TutorialFolder.create(node);
    folder.addArchive();
    await assertExpress(folder);

    await using program = await newProgram({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' });
    await program.signIn('you@example.com');
    await using installed = await InstalledBackend.create(node);
    await using backend = await installed.start(program.url);
    const call = async (method: string, path: string, cookie: string, json?: object): Promise<Response> =>
      fetch(backend.url + path, {
        method,
        headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', cookie },
        ...(json && { body: JSON.stringify(json) }),
      });
    const session = await call('POST', '/api/session', '', { email: 'you@example.com', password: goodPassword });
    assert.equal(session.status, 204, backend.output());
    const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const created = await call('POST', '/api/keys', cookie, { nickname: 'from the page' });
    assert.equal(created.status, 201);
    const { id, key } = (await created.json()) as Key;
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
    assert.equal((await call('DELETE', `/api/keys/${id}`, cookie)).status, 204);
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 401);
    assert.equal((await call('DELETE', '/api/session', cookie)).status, 204);
  });
