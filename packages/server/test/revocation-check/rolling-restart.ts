/** Restarts instances behind nginx, with the configuration of `docs/compose/`, while clients send requests. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { Instance, type HttpRequest } from '../../revocation-check/instance.ts';
import { freePort } from '../../test-kit/free-port.ts';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { until } from '../../test-kit/until.ts';
import { basic, bearer } from '../e2e/program.ts';
import { end, findProgram, spawnQuietly } from '../e2e/proxy-kit.ts';
import { Cluster } from './cluster.ts';

/**
 * A quarter of it exceeds the time for which nginx keeps an idle connection by 9 s, because timers of a busy machine are late.
 * A stop takes half of it.
 */
const drainSeconds = 40;
const clients = 4;
/** Of all clients together, before the first restart and after each. */
const requestsBetween = 60;

const configuration = new URL('../../../../docs/compose/nginx.conf', import.meta.url);

/** The documented file, with the URLs of these instances instead of the containers', and responses may take any time. */
function configurationFor(urls: readonly string[], port: number): string {
  const text = readFileSync(configuration, 'utf8');
  const lines = text.match(/^ *server +keyreeve-\d:8787 .*;$/gm) ?? [];
  const [first] = lines;
  assert.ok(first !== undefined && lines.length === 2, 'the documented upstream has two servers');
  const servers = urls.map((url) => first.replace('keyreeve-1:8787', new URL(url).host)).join('\n');
  const limits = /(?<=proxy_(?:send|read|next_upstream)_timeout +)\d+s/g;
  assert.equal(text.match(limits)?.length, 3);
  const replaced = text
    .replace(lines.join('\n'), servers)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replaceAll(limits, `${programMsMax}ms`);
  assert.ok(replaced.includes(servers) && replaced.includes(`127.0.0.1:${port};`));
  return replaced;
}

interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** The error log. */
  readonly errors: () => string;
}

async function startNginx(program: string, urls: readonly string[]): Promise<Nginx> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(newTempFolder());
  // As root, nginx runs its workers as another user, which needs access.
  chmodSync(folder.path, 0o755);
  mkdirSync(join(folder.path, 'home'));
  const port = await freePort();
  writeFileSync(join(folder.path, 'nginx.conf'), configurationFor(urls, port));
  const args = ['-p', folder.path, '-c', join(folder.path, 'nginx.conf'), '-g', 'daemon off;'];
  const child = spawnQuietly(program, args, join(folder.path, 'home'));
  stack.defer(() => end(child.process));
  const url = `http://127.0.0.1:${port}`;
  await until('nginx responds', () => {
    if (child.process.exitCode !== null) throw new Error(`nginx has ended:\n${child.output()}`);
    return fetch(`${url}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const moved = stack.move();
  return { url, errors: () => child.output(), [Symbol.asyncDispose]: () => moved[Symbol.asyncDispose]() };
}

/** Clients that send one request after the other until `stop`. */
class Load {
  /** Unexpected responses. */
  readonly failures: string[] = [];
  requests = 0;
  readonly #paceMs: number;
  readonly #proxy: Instance;
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(url: string, { canaries }: Cluster, paceMs: number) {
    this.#paceMs = paceMs;
    this.#proxy = new Instance(url, programMsMax);
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#run(canaries)));
  }

  async more(): Promise<void> {
    const enough = this.requests + requestsBetween;
    await until('the clients continue', () => this.requests >= enough || this.failures.length > 0);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    this.#proxy.close();
  }

  async #run(canaries: Cluster['canaries']): Promise<void> {
    const { id, email, password } = await canaries.newAccount();
    const key = await canaries.newCallerKey(id);
    const service = bearer(key.secret);
    let session = await this.#tokens({ method: 'POST', path: '/auth/token', headers: basic(email, password) });
    for (let round = 0; !this.#isOver && this.failures.length === 0; round++) {
      await this.#send({ method: 'GET', path: '/auth/forward', headers: service }, 200);
      await this.#send(json('/auth/verify', service, { credential: key.secret }), 200);
      await this.#send(json('/auth/verify/batch', service, { credentials: [key.secret] }), 200);
      const owner = bearer(session.accessToken);
      await this.#send({ method: 'GET', path: '/auth/api-keys', headers: owner }, 200);
      const created = await this.#send(json('/auth/api-keys', owner, { nickname: `made ${round}` }), 201);
      const { id: keyId } = created as { id: number };
      await this.#send({ method: 'DELETE', path: `/auth/api-keys/${keyId}`, headers: owner }, 200);
      session = await this.#tokens(json('/auth/token/refresh', {}, { refreshToken: session.refreshToken }));
    }
  }

  #tokens(request: HttpRequest): Promise<{ accessToken: string; refreshToken: string }> {
    return this.#send(request, 200) as Promise<{ accessToken: string; refreshToken: string }>;
  }

  /** Sends the request once: a retry would hide a failure. */
  async #send(request: HttpRequest, expected: number): Promise<unknown> {
    this.requests++;
    const response = await this.#proxy.send(request).catch((error: unknown) => ({ status: String(error), text: '{}' }));
    if (response.status !== expected)
      this.failures.push(`${request.method} ${request.path}: ${response.status}: ${response.text}`);
    // oxlint-disable-next-line keyreeve/no-test-bounds -- the pace of the clients is an input of the run
    await setTimeout(this.#paceMs);
    return response.text.startsWith('{') ? JSON.parse(response.text) : {};
  }
}

const json = (path: string, headers: Readonly<Record<string, string>>, body: unknown): HttpRequest => ({
  method: 'POST',
  path,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

export interface RollingRestart {
  readonly instances: number;
  readonly restarts: number;
  /** Of each client between two requests. */
  readonly paceMs: number;
}

/** @throws AssertionError if a request fails while each of the first instances is restarted, one after the other */
export async function assertNoRequestFails(
  t: TestContext,
  { instances, restarts, paceMs }: RollingRestart,
): Promise<void> {
  const program = findProgram('nginx');
  if (program === undefined) {
    assert.notEqual(process.env['CI'], 'true', 'nginx is not installed, but CI requires it');
    t.diagnostic('skipped: nginx is not installed');
    t.skip('nginx is not installed');
    return;
  }
  await using cluster = await Cluster.start({
    instances,
    postgres: await sharedPostgres(),
    environment: {
      KEYREEVE_DRAIN_SECONDS: String(drainSeconds),
      KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
      KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  await using nginx = await startNginx(program, cluster.urls);
  const load = new Load(nginx.url, cluster, paceMs);
  await load.more();
  for (const instance of cluster.instances.slice(0, restarts)) {
    assert.equal(await instance.stop(), 0, instance.output);
    assert.match(instance.output, /"event":"stopped","isDrained":true/);
    await load.more();
    await instance.start();
    await load.more();
  }
  await load.stop();
  assert.deepEqual(load.failures, [], nginx.errors());
  assert.ok(load.requests >= requestsBetween * (1 + 2 * restarts));
  t.diagnostic(`${load.requests} requests`);
}
