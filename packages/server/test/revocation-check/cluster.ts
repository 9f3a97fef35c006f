/**
 * Several instances of the program on one database: on PostgreSQL, each behind its own fault proxy, on a cluster that Patroni
 * manages, or on one embedded file.
 * Tests can kill, pause and restart each instance; it keeps its port.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { canariesOf } from '../../src/cli/canaries.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readConfig } from '../../src/app/configuration/config.ts';
import { generatePassword } from '../../src/modules/accounts/accounts.ts';
import { operator } from '../../src/cli/session.ts';
import { openInstallation } from '../../src/app/installation/installation.ts';
import type { Canaries } from '../../revocation-check/canaries.ts';
import { newIdentityIssuer, newIssuerKey, type IdentityIssuer } from '../../test-kit/identity-issuer.ts';
import { freePort } from '../../test-kit/free-port.ts';
import { PatroniCluster } from '../../test-kit/patroni/patroni-cluster.ts';
import type { PostgresDatabases, TestDatabase } from '../../test-kit/postgres/databases.ts';
import { PgBouncer } from '../../test-kit/postgres/pgbouncer.ts';
import { runningProcesses } from '../../test-kit/postgres/processes.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { wire } from '../../src/app/wiring/wire.ts';
import { databaseIn, environmentFor, keyreeveBin, type Environment } from '../e2e/program.ts';
import { spawnQuietly } from '../e2e/proxy-kit.ts';
import { HttpChanges } from './http-changes.ts';
import { FaultProxy } from './fault-proxy.ts';
import { awaited, until } from '../../test-kit/until.ts';

export interface ClusterOptions {
  readonly instances: number;
  /** Servers of the test's own, or the one that tests share. Without a server, the instances share one embedded file. */
  readonly postgres?: PostgresServer | PatroniCluster | PostgresDatabases | undefined;
  /** Whether PgBouncer in session mode is between the proxies and PostgreSQL. */
  readonly hasPooler?: boolean;
  /** The launcher of another build. */
  readonly bin?: string | undefined;
  readonly environment?: Environment;
  /** Processes of each instance that only verify, with a listener of their own. Default: none. */
  readonly verifiers?: number | undefined;
  /** In addition, by the number of the instance, from 0. */
  readonly environmentOf?: (instance: number) => Environment;
}

/** The same for all instances, so that each accepts the others’ access tokens. */
const publicUrl = 'http://localhost:8787';

export class Cluster implements AsyncDisposable {
  readonly instances: readonly ClusterInstance[];
  /** Created in the database, without a proxy. */
  readonly canaries: Canaries;
  /** By an administrator. */
  readonly changes: HttpChanges;
  /** Whose JWK set the instances fetch. */
  readonly issuer: IdentityIssuer;
  /** Undefined for the server that tests share: no test may restart or pause it. */
  readonly postgres: PostgresServer | undefined;
  readonly patroni: PatroniCluster | undefined;
  /** Without a proxy. */
  readonly databaseUrl: string;
  readonly #cleanUp: AsyncDisposableStack;

  private constructor(
    { postgres }: ClusterOptions,
    parts: Pick<Cluster, 'instances' | 'canaries' | 'changes' | 'issuer' | 'databaseUrl'>,
    cleanUp: AsyncDisposableStack,
  ) {
    this.postgres = postgres instanceof PostgresServer ? postgres : undefined;
    this.patroni = postgres instanceof PatroniCluster ? postgres : undefined;
    this.instances = parts.instances;
    this.canaries = parts.canaries;
    this.changes = parts.changes;
    this.issuer = parts.issuer;
    this.databaseUrl = parts.databaseUrl;
    this.#cleanUp = cleanUp;
  }

  /** Creates a database, starts the instances, and waits until they are ready. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { instances: count, postgres, bin = keyreeveBin, environment = {}, environmentOf = () => ({}) } = options;
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(newTempFolder());
    const database = await postgres?.createDatabase();
    if (database) stack.defer(() => dropIfPossible(database));
    const databaseUrl = database?.url ?? `sqlite:${databaseIn(folder.path)}`;
    const pooler = database && options.hasPooler ? stack.use(await startPooler(database.url)) : undefined;
    const proxiedUrl = pooler?.through(databaseUrl) ?? databaseUrl;
    const shared = { KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'), KEYREEVE_PUBLIC_URL: publicUrl };
    const { KEYREEVE_SCOPES = 'open', KEYREEVE_DATABASE_FAILOVER = 'fenced' } = environment;
    const patroni = postgres instanceof PatroniCluster ? postgres : undefined;
    const opened = await openCanaries({
      KEYREEVE_DATABASE_URL: databaseUrl,
      KEYREEVE_SCOPES,
      KEYREEVE_DATABASE_FAILOVER,
      ...shared,
    });
    const { canaries, changes } = opened;
    stack.defer(opened.close);
    stack.use(changes);
    const issuer = stack.use(await newIdentityIssuer({ keys: [newIssuerKey('ES256')], audience: publicUrl }));

    const instances: ClusterInstance[] = [];
    for (let number = 0; number < count; number++) {
      const proxy = database && !patroni ? stack.use(await FaultProxy.start(proxiedUrl)) : undefined;
      const instance = new ClusterInstance({
        bin,
        folder: folder.path,
        port: await freePort(),
        verifyPort: options.verifiers === undefined ? undefined : await freePort(),
        proxy,
        environment: {
          ...shared,
          // The client IP of a verification is what the check sends in X-Forwarded-For.
          KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
          KEYREEVE_LEAK_REPORTS: 'on',
          ...issuer.environment,
          KEYREEVE_DATABASE_URL: patroni?.urlFor(number, databaseUrl) ?? proxy?.through(databaseUrl) ?? databaseUrl,
          ...(options.verifiers === undefined ? {} : { KEYREEVE_VERIFIERS: String(options.verifiers) }),
          ...environment,
          ...environmentOf(number),
        },
      });
      stack.use(instance);
      instances.push(instance);
      changes.addInstance(instance.url);
    }
    await Promise.all(instances.map((instance) => instance.start()));
    return new Cluster(options, { instances, canaries, changes, issuer, databaseUrl }, stack.move());
  }

  get urls(): readonly string[] {
    return this.instances.map(({ url }) => url);
  }

  get verificationUrls(): readonly string[] {
    return this.instances.flatMap(({ verifyUrl }) => verifyUrl ?? []);
  }

  /** Ends the faults of the proxies and of the database, starts ended instances, and waits until all are ready. */
  async recover(): Promise<void> {
    await this.patroni?.recover();
    for (const { proxy } of this.instances) proxy?.clearFaults();
    await Promise.all(this.instances.map((instance) => (instance.isRunning ? instance.ready() : instance.start())));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUp[Symbol.asyncDispose]();
  }
}

/** With more connections than the instances have together. */
const startPooler = (url: string): Promise<PgBouncer> =>
  PgBouncer.start(url, 'session', { default_pool_size: '200', max_client_conn: '1000' });

interface InstanceOptions {
  readonly bin: string;
  readonly folder: string;
  readonly port: number;
  /** Undefined without a listener that only verifies. */
  readonly verifyPort: number | undefined;
  readonly proxy: FaultProxy | undefined;
  readonly environment: Environment;
}

export class ClusterInstance implements AsyncDisposable {
  readonly url: string;
  /** Of the listener that only verifies. */
  readonly verifyUrl: string | undefined;
  /** Between the instance and PostgreSQL. */
  readonly proxy: FaultProxy | undefined;
  readonly #options: InstanceOptions;
  #child: ReturnType<typeof spawnQuietly> | undefined;

  constructor(options: InstanceOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    this.verifyUrl = options.verifyPort === undefined ? undefined : `http://127.0.0.1:${options.verifyPort}`;
    this.proxy = options.proxy;
  }

  get #process(): ChildProcess | undefined {
    return this.#child?.process;
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The end of its output. */
  get output(): string {
    return this.#child?.output() ?? '';
  }

  async start(): Promise<void> {
    const { bin, folder, port, verifyPort, environment } = this.#options;
    const verifying = verifyPort === undefined ? {} : { KEYREEVE_VERIFY_PORT: String(verifyPort) };
    const env = environmentFor(folder, { KEYREEVE_PORT: String(port), ...verifying, ...environment });
    this.#child = spawnQuietly(process.execPath, [bin, 'serve'], folder, env);
    await this.ready();
  }

  /** Waits until the instance is ready. @throws Error with its output */
  async ready(): Promise<void> {
    await until(`${this.url} is ready`, async () => {
      if (!this.isRunning) throw new Error(`the instance has ended:\n${this.output}`);
      const urls = this.verifyUrl === undefined ? [this.url] : [this.url, this.verifyUrl];
      const responses = urls.map((url) =>
        fetch(`${url}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      return (await Promise.all(responses)).every(Boolean);
    });
  }

  /** Sends SIGKILL, and waits until the process has ended. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Sends SIGTERM, and waits until the process has ended. @returns its exit status */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM');
    return this.#process?.exitCode ?? null;
  }

  /** Sends SIGSTOP: connections stay open. */
  async pause(): Promise<void> {
    this.#process?.kill('SIGSTOP');
    await until('the instance is stopped', () => this.#state === 'T');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** The process ids of those that only verify. */
  get verifiers(): readonly number[] {
    return runningProcesses()
      .filter(({ parentPid }) => parentPid === this.#process?.pid)
      .map(({ pid }) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isRunning) await this.#end('SIGKILL');
  }

  get #state(): string | undefined {
    return runningProcesses().find(({ pid }) => pid === this.#process?.pid)?.state;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || !this.isRunning) throw new Error(`the instance has ended already:\n${this.output}`);
    const ended = once(child, 'exit');
    child.kill(signal);
    await awaited(`the instance ends after ${signal}`, ended);
  }
}

async function openCanaries(
  environment: Environment,
): Promise<{ canaries: Canaries; changes: HttpChanges; close: () => Promise<void> }> {
  const config = readConfig(environment);
  const clock = systemClock;
  const installation = await openInstallation(config, { clock, mayCreate: true });
  const { db } = installation;
  const services = wire({ config, installation, clock, issuer: publicUrl });
  const administrator = { email: 'administrator@example.com', password: generatePassword() };
  const { id } = await services.accounts.create(operator, administrator.email, administrator.password, 'admin');
  const changes = new HttpChanges({ ...administrator, id, password: administrator.password.reveal() });
  const canaries = canariesOf({ config, installation, ...services }, true, changes);
  // Before the instances start: a running instance may reject imported keys for some seconds after the first import.
  await canaries.importKey((await canaries.newAccount()).id);
  return { canaries, changes, close: () => db.close() };
}

/** The server may have ended before, which removes the database. */
const dropIfPossible = (database: TestDatabase): Promise<void> => database.drop().catch(() => undefined);
