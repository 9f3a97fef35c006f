/**
 * Several instances of the real program on one database: on PostgreSQL, each behind a fault proxy of its own, or on one
 * embedded file. Each can be killed, stopped where it is, and started again on the port that it had.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { canariesOf } from '../../src/cli/canaries.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readConfig } from '../../src/app/config.ts';
import { openInstallation } from '../../src/app/installation.ts';
import type { Canaries } from '../../revocation-check/canaries.ts';
import { freePort } from '../../test-kit/free-port.ts';
import type { TestDatabase } from '../../test-kit/postgres/databases.ts';
import { runningProcesses } from '../../test-kit/postgres/processes.ts';
import type { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { wire } from '../../src/app/wiring.ts';
import { databaseIn, environmentFor, keyreeveBin, type Environment } from '../e2e/program.ts';
import { spawnQuietly } from '../e2e/proxy-kit.ts';
import { FaultProxy } from './fault-proxy.ts';
import { until } from './until.ts';

export interface ClusterOptions {
  readonly instances: number;
  /** Without it the instances share one embedded file. */
  readonly postgres?: PostgresServer | undefined;
  /** The launcher of another build of the program. */
  readonly bin?: string | undefined;
  readonly environment?: Environment;
}

const startMsMax = 30_000;
const exitMsMax = 30_000;
const signalMsMax = 10_000;
/** The same for all, so that each accepts the others’ access tokens. */
const publicUrl = 'http://localhost:8787';

export class Cluster implements AsyncDisposable {
  readonly instances: readonly ClusterInstance[];
  /** Made straight in the database, past every proxy. */
  readonly canaries: Canaries;
  readonly postgres: PostgresServer | undefined;
  /** Of the database, past every proxy. */
  readonly databaseUrl: string;
  readonly #cleanUp: AsyncDisposableStack;

  private constructor(
    { postgres }: ClusterOptions,
    parts: Pick<Cluster, 'instances' | 'canaries' | 'databaseUrl'>,
    cleanUp: AsyncDisposableStack,
  ) {
    this.postgres = postgres;
    this.instances = parts.instances;
    this.canaries = parts.canaries;
    this.databaseUrl = parts.databaseUrl;
    this.#cleanUp = cleanUp;
  }

  /** All of them stand, on a new database. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { instances: count, postgres, bin = keyreeveBin, environment = {} } = options;
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(newTempFolder());
    const database = await postgres?.createDatabase();
    if (database) stack.defer(() => dropIfThere(database));
    const databaseUrl = database?.url ?? `sqlite:${databaseIn(folder.path)}`;
    const same = { KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'), KEYREEVE_PUBLIC_URL: publicUrl };
    const { canaries, close } = await openCanaries({ KEYREEVE_DATABASE_URL: databaseUrl, ...same });
    stack.defer(close);

    const instances: ClusterInstance[] = [];
    for (let number = 0; number < count; number++) {
      const proxy = database && stack.use(await FaultProxy.start(databaseUrl));
      const instance = new ClusterInstance({
        bin,
        folder: folder.path,
        port: await freePort(),
        proxy,
        environment: {
          ...same,
          KEYREEVE_DATABASE_URL: proxy?.through(databaseUrl) ?? databaseUrl,
          ...environment,
        },
      });
      stack.use(instance);
      instances.push(instance);
    }
    await Promise.all(instances.map((instance) => instance.start()));
    return new Cluster(options, { instances, canaries, databaseUrl }, stack.move());
  }

  get urls(): readonly string[] {
    return this.instances.map(({ url }) => url);
  }

  /** Nothing stands between the instances and the database any more, and every one of them answers. */
  async heal(): Promise<void> {
    for (const { proxy } of this.instances) proxy?.heal();
    await Promise.all(this.instances.map((instance) => (instance.isRunning ? instance.ready() : instance.start())));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUp[Symbol.asyncDispose]();
  }
}

interface InstanceOptions {
  readonly bin: string;
  readonly folder: string;
  readonly port: number;
  readonly proxy: FaultProxy | undefined;
  readonly environment: Environment;
}

export class ClusterInstance implements AsyncDisposable {
  readonly url: string;
  /** Between it and PostgreSQL. */
  readonly proxy: FaultProxy | undefined;
  readonly #options: InstanceOptions;
  #child: ReturnType<typeof spawnQuietly> | undefined;

  constructor(options: InstanceOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    this.proxy = options.proxy;
  }

  get #process(): ChildProcess | undefined {
    return this.#child?.process;
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The last of what it has printed. */
  get output(): string {
    return this.#child?.output() ?? '';
  }

  async start(): Promise<void> {
    const { bin, folder, port, environment } = this.#options;
    const env = environmentFor(folder, { KEYREEVE_PORT: String(port), ...environment });
    this.#child = spawnQuietly(process.execPath, [bin, 'serve'], folder, env);
    await this.ready();
  }

  /** Until it says that it can serve. @throws Error with what it printed */
  async ready(): Promise<void> {
    await until(`${this.url} is ready`, startMsMax, async () => {
      if (!this.isRunning) throw new Error(`the instance has ended:\n${this.output}`);
      return fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(startMsMax) }).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  }

  /** `kill -9`, and until it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM, and until it is gone. @returns its exit status */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM');
    return this.#process?.exitCode ?? null;
  }

  /** Stops it where it is; connections stay open. */
  async pause(): Promise<void> {
    this.#process?.kill('SIGSTOP');
    await until('the instance is stopped', signalMsMax, () => this.#state === 'T');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Of the processes that share its port; none when it is one process. */
  get workers(): readonly number[] {
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
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(exitMsMax) });
    child.kill(signal);
    await ended;
  }
}

async function openCanaries(environment: Environment): Promise<{ canaries: Canaries; close: () => Promise<void> }> {
  const config = readConfig(environment);
  const clock = systemClock;
  const installation = await openInstallation(config, { clock, mayCreate: true, mayMigrate: true });
  const { db } = installation;
  const canaries = canariesOf(
    { config, installation, ...wire({ config, installation, clock, issuer: publicUrl }) },
    true,
  );
  // Before an instance runs: none has to notice the first import.
  await canaries.importKey((await canaries.newAccount()).id);
  return { canaries, close: () => db.close() };
}

/** Its server may be gone by then, with all that was in it. */
const dropIfThere = (database: TestDatabase): Promise<void> => database.drop().catch(() => undefined);
