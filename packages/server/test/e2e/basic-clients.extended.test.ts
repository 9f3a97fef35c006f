/** Unchanged clients with a key as Basic credential, through the proxies of `docs/forward-auth/`: git and pip. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { installedProgram } from './proxy-kit.ts';
import { proxies } from './proxy-programs.ts';
import { runChecks, type Checks } from './proxy-run.ts';
import type { ProxySetup } from './proxy-setup.ts';

/** The arguments of a client that requests a URL below the given one. It fails, because the backend is no server of its kind. */
const clients: Readonly<Record<string, (url: string) => readonly string[]>> = {
  git: (url) => ['-c', 'credential.helper=', 'ls-remote', `${url}/billing.git`],
  pip3: (url) => ['download', '--no-cache-dir', '--retries=0', '--no-input', `--index-url=${url}/simple`, 'billing'],
};

/** The identities of the requests that reach the backend. */
async function reached({ url, backend }: ProxySetup, program: string, credential: string): Promise<readonly string[]> {
  const args = clients[program]?.(url.replace('http://', `http://${credential}@`)) ?? [];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', no_proxy: '*' };
  const child = spawn(program, args, { stdio: 'ignore', env, timeout: programMsMax });
  await once(child, 'close');
  return backend
    .takeRequests()
    .map(({ headers }) => headers.find(([name]) => name.toLowerCase() === 'x-keyreeve-nickname')?.[1] ?? 'nobody');
}

const checksOf = (program: string): Checks => ({
  [`${program} sends a key as password or as user name, until its deletion`]: async (setup) => {
    const { keyreeve } = setup;
    const { id, key } = await keyreeve.createKey(`${program} ${setup.proxy.name}`);
    for (const credential of [`ci:${key}`, `${key}:`]) {
      const nicknames = await reached(setup, program, credential);
      assert.ok(nicknames.length > 0, 'a request reached the backend');
      for (const nickname of nicknames) assert.equal(nickname, encodeURIComponent(`${program} ${setup.proxy.name}`));
    }
    await keyreeve.deleteKey(id);
    assert.deepEqual(await reached(setup, program, `ci:${key}`), []);
  },
});

for (const proxy of proxies)
  test(`git and pip with a key as Basic credential, through ${proxy.name}`, async (t) => {
    const programs = Object.keys(clients).filter((name) => installedProgram(t, name) !== undefined);
    const keyreeve = await startKeyreeve(undefined, { KEYREEVE_FORWARD_BASIC: 'on' });
    try {
      await runChecks(t, proxy, keyreeve, Object.assign({}, ...programs.map(checksOf)) as Checks);
    } finally {
      await keyreeve.stop();
    }
  });
