/** Unchanged clients with a key as Basic credential, through the proxies of `docs/forward-auth/`: git, pip, skopeo and Maven. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { basicClients, download, serveFiles, type BasicClient, type Credential } from './basic-clients.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { installedProgram } from './proxy-kit.ts';
import { proxies } from './proxy-programs.ts';
import { runChecks, type Checks } from './proxy-run.ts';
import type { ProxySetup } from './proxy-setup.ts';

/** @returns whether the client has downloaded its file, and the identities of the requests that reached the backend */
async function downloadThrough(
  { url, backend }: ProxySetup,
  client: BasicClient,
  credential: Credential,
): Promise<{ isDone: boolean; nicknames: ReadonlySet<unknown> }> {
  const nicknames = new Set<unknown>();
  backend.respondWith(serveFiles(client, ({ headers }) => void nicknames.add(headers['x-keyreeve-nickname'])));
  const isDone = await download(client, url, credential);
  backend.respondWith(undefined);
  return { isDone, nicknames };
}

const checksOf = (client: BasicClient): Checks => ({
  [`${client.program} downloads with a key as password or as user name, until its deletion`]: async (setup) => {
    const { id, nickname, key } = await setup.keyreeve.createKey(`${client.program} ${setup.proxy.name}`);
    const nicknames = new Set([encodeURIComponent(nickname)]);
    const asPassword = { user: 'ci', password: key };
    assert.deepEqual(await downloadThrough(setup, client, asPassword), { isDone: true, nicknames });
    const asUser = { user: key, password: '' };
    if (client.needsPassword !== true)
      assert.deepEqual(await downloadThrough(setup, client, asUser), { isDone: true, nicknames });
    await setup.keyreeve.deleteKey(id);
    const none = { isDone: false, nicknames: new Set() };
    assert.deepEqual(await downloadThrough(setup, client, asPassword), none);
  },
});

for (const proxy of proxies)
  test(`clients with a key as Basic credential, through ${proxy.name}`, async (t) => {
    const clients = basicClients.filter(
      ({ program, isSlow }) => (!isSlow || proxy.name === 'nginx') && installedProgram(t, program) !== undefined,
    );
    const keyreeve = await startKeyreeve(undefined, { KEYREEVE_FORWARD_BASIC: 'on' });
    try {
      await runChecks(t, proxy, keyreeve, Object.assign({}, ...clients.map(checksOf)) as Checks);
    } finally {
      await keyreeve.stop();
    }
  });

for (const program of ['skopeo', 'mvn'])
  test(`${program} reads only the first challenge of a line, so Basic is the first`, async (t) => {
    const client = basicClients.find((each) => each.program === program);
    if (!client || installedProgram(t, program) === undefined) return;
    const credential = { user: 'ci', password: 'the-key' };
    const expected = `Basic ${Buffer.from('ci:the-key').toString('base64')}`;
    let challenges = '';
    const server = createServer(
      serveFiles(client, ({ headers }, response) => {
        if (headers.authorization !== expected) response.writeHead(401, { 'www-authenticate': challenges }).end();
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      challenges = 'Basic realm="keyreeve", charset="UTF-8", Bearer realm="keyreeve"';
      assert.equal(await download(client, url, credential), true);
      challenges = 'Bearer realm="keyreeve", Basic realm="keyreeve", charset="UTF-8"';
      assert.equal(await download(client, url, credential), false);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
