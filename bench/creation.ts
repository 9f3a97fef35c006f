/**
 * Creations of keys compared with PocketBase, each on one core with a new SQLite file. PocketBase creates records of a
 * collection with an owner, a nickname that is unique for its owner, and a random text. Its commits do not wait for the disk
 * (`synchronous=NORMAL`), and it stores the text itself and no audit event.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../packages/server/test-kit/free-port.ts';
import type { Bench } from './bench.ts';
import { createRequest, keyreeve, repository } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { execute, measure, Programs, start, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { blank, jsonRequest, serial, writePool, type RequestTemplate } from './request.ts';
import type { Side } from './rounds.ts';
import { accessTokensOf } from './tokens.ts';

const connections = 16;
const accounts = 32;
const seededKeys = 1_000;
const ratioMin = 1.15;
const cache = join(repository, 'node_modules/.cache/bench/pocketbase');
const superuser = { identity: 'bench@example.com', password: 'correct horse battery staple' };

export async function creation(bench: Bench, report: Report): Promise<void> {
  const { seconds } = bench.options;
  const seeded = await (await bench.databases('sqlite')).seed('creation', seededKeys);
  await using programs = new Programs();
  const server = programs.add(await keyreeve(seeded, { cores: oneCore }));
  const tokens = writePool(bench.file('creating-tokens'), await accessTokensOf(server.port, accounts));
  const peer = programs.add(await startPocketBase(bench.file('pocketbase')));
  const peerRequest = await pocketBaseRequest(peer.port, bench.file('pocketbase-tokens'));
  const side = (name: string, running: Running, request: RequestTemplate): Side => ({
    name,
    run: () => measure(running, { connections, seconds, request }),
  });
  const found = await bench.compare(report, [
    side('Keyreeve', server, createRequest(tokens)),
    side('PocketBase', peer, peerRequest),
  ]);
  const bar = { atLeast: ratioMin };
  report.ratio('creations on one core: processor time of PocketBase / Keyreeve', found, byProcessorTime, bar);
  report.ratio('creations on one core: rate of Keyreeve / PocketBase', found, byRate, bar);
}

const byProcessorTime = ['PocketBase', 'Keyreeve', 'processorUs'] as const;
const byRate = ['Keyreeve', 'PocketBase', 'perSecond'] as const;

async function startPocketBase(folder: string): Promise<Running> {
  const program = join(cache, 'bin/pocketbase');
  if (!existsSync(program)) {
    console.error('installing PocketBase');
    await execute(['python3', '-m', 'venv', cache]);
    const requirements = join(import.meta.dirname, 'pocketbase.txt');
    const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--require-hashes'];
    await execute([join(cache, 'bin/pip'), 'install', ...options, '-r', requirements]);
  }
  const { identity, password } = superuser;
  await execute([program, 'superuser', 'upsert', identity, password, '--dir', folder]);
  const address = `127.0.0.1:${await freePort()}`;
  const command = [program, 'serve', '--http', address, '--dir', folder];
  return start(command, { cores: oneCore, healthUrl: `http://${address}/api/health` });
}

/** Creates the collection and its users. @param path of the pool of their access tokens and ids */
async function pocketBaseRequest(port: number, path: string): Promise<RequestTemplate> {
  const call = async (route: string, body: object, token = ''): Promise<Record<string, string>> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/collections${route}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`PocketBase: ${route}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const { token: ofSuperuser } = await call('/_superusers/auth-with-password', superuser);
  await call('', collection, ofSuperuser);
  const records: string[] = [];
  let tokenBytes = 0;
  for (let index = 0; index < accounts; index++) {
    const user = { email: `user${index}@example.com`, password: 'password1234', passwordConfirm: 'password1234' };
    const { id = '' } = await call('/users/records', user, ofSuperuser);
    const { token = '' } = await call(`/users/impersonate/${id}`, { duration: 3_600 }, ofSuperuser);
    if (tokenBytes !== 0 && token.length !== tokenBytes) throw new Error('the tokens of PocketBase differ in length');
    tokenBytes = token.length;
    records.push(token + id);
  }
  const pool = writePool(path, records);
  const headers = { Authorization: blank(tokenBytes) };
  const body = { account: blank(pool.recordBytes - tokenBytes), nickname: `bench ${serial}` };
  return { text: jsonRequest('/api/collections/api_keys/records', headers, body), pool, contains: '"nickname"' };
}

const collection = {
  name: 'api_keys',
  type: 'base',
  createRule: 'account = @request.auth.id',
  fields: [
    {
      name: 'account',
      type: 'relation',
      collectionId: '_pb_users_auth_',
      cascadeDelete: true,
      required: true,
      maxSelect: 1,
    },
    { name: 'nickname', type: 'text', required: true },
    { name: 'key', type: 'text', required: true, autogeneratePattern: 'krv_[A-Za-z0-9]{43}' },
  ],
  indexes: [
    'create unique index api_keys_nickname on api_keys (account, nickname)',
    'create unique index api_keys_key on api_keys (key)',
  ],
};
