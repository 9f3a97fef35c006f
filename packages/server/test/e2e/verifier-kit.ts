/** Tests of a service with processes that only verify. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { KeyLimits } from '@keyreeve/contract';
import { runningProcesses } from '../../test-kit/postgres/processes.ts';
import { until } from '../../test-kit/until.ts';
import { basic, bearer, goodPassword, type Environment, type Key, type Program } from './program.ts';

export const withVerifier: Environment = { KEYREEVE_VERIFY_PORT: '0' };

/** Of the listener that only verifies. */
export const verifyUrlOf = (program: Program): string => String(program.records('listening')[0]?.['verifyUrl']);

/** The process id of each verifier that has listened last, by number. */
export function pidsOf(program: Program): ReadonlyMap<number, number> {
  const records = program.records('verifier_listening');
  return new Map(records.map(({ verifier, verifierPid }) => [Number(verifier), Number(verifierPid)]));
}

/** The process id of the only verifier, or of the first. */
export const pidOf = (program: Program): number => {
  const pid = pidsOf(program).get(1);
  assert.ok(pid !== undefined);
  return pid;
};

const stateOf = (pid: number): string | undefined => runningProcesses().find((one) => one.pid === pid)?.state;

/** Resolves when the process is stopped: it may finish a system call first. */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await until(`process ${pid} is stopped`, () => stateOf(pid) === 'T');
}

export const ended = (pid: number): Promise<void> => until(`process ${pid} ends`, () => stateOf(pid) === undefined);

/** Kills the main process. Its output stays open while a stopped verifier has it. */
export async function killMain({ child }: Program): Promise<void> {
  child.kill('SIGKILL');
  await ended(child.pid ?? 0);
}

export interface Verified {
  /** Undefined if the connection was closed without a response. */
  readonly status: number | undefined;
  readonly body: string;
}

/** One connection that stays open. */
export class VerifyConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #at: { readonly host: string; readonly port: string } | { readonly socketPath: string };

  /** @param url of the listener, also `unix:` and a path */
  constructor(url: string) {
    this.#at = url.startsWith('unix:')
      ? { socketPath: url.slice('unix:'.length) }
      : { host: new URL(url).hostname, port: new URL(url).port };
  }

  async call(method: string, path: string, headers: Environment = {}, body?: string): Promise<Verified> {
    const sent = request({ ...this.#at, method, path, agent: this.#agent, headers });
    sent.end(body);
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, body: await text(response) };
    } catch {
      return { status: undefined, body: '' };
    }
  }

  async forward(key: string, headers: Environment = {}): Promise<number | undefined> {
    return (await this.call('GET', '/auth/forward', { ...bearer(key), ...headers })).status;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** One verification on a connection of its own. */
export async function forwardAt(url: string, key: string, headers: Environment = {}): Promise<number | undefined> {
  using connection = new VerifyConnection(url);
  return await connection.forward(key, headers);
}

let limitedKeys = 0;

export async function createLimitedKey(program: Program, accessToken: string, limits: KeyLimits): Promise<Key> {
  const json = { nickname: `limited ${++limitedKeys}`, limits };
  const { status, text: body, json: key } = await program.call('POST', '/auth/api-keys', bearer(accessToken), json);
  assert.equal(status, 201, body);
  return key as Key;
}

/** A key with the scope `keyreeve:verify`. */
export async function createServiceKey(program: Program): Promise<string> {
  const args = ['key', 'create', '--account', 'you@example.com', '--nickname', 'backend'];
  const { status, stdout, stderr } = await program.command([...args, '--scope', 'keyreeve:verify', '--json']);
  assert.equal(status, 0, stderr);
  return (JSON.parse(stdout) as Key).key;
}

/** After a rotation of the signing keys with `--now`, the listener of verifiers accepts no access token from before. */
export async function assertRejectsTokensOfRevokedKeys(program: Program): Promise<void> {
  const { accessToken } = await program.signIn();
  const connections = Array.from({ length: 4 }, () => new VerifyConnection(verifyUrlOf(program)));
  const statuses = async (token: string) => new Set(await Promise.all(connections.map((each) => each.forward(token))));
  assert.deepEqual(await statuses(accessToken), new Set([200]));
  const { status, stderr } = await program.command(['signing-key', 'rotate', '--now']);
  assert.equal(status, 0, stderr);
  assert.deepEqual(await statuses(accessToken), new Set([401]));
  const { json, text: answer } = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
  assert.deepEqual(await statuses((json as { accessToken: string }).accessToken), new Set([200]), answer);
  for (const connection of connections) connection[Symbol.dispose]();
}
