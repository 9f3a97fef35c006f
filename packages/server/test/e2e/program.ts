/**
 * The real program for tests: spawned as a user would start it, in an environment of its own, on free ports and an own
 * folder, with a bound on every wait. Nothing here knows how Keyreeve works inside.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';

/** What `npx keyreeve` runs. */
export const keyreeveBin = fileURLToPath(new URL('../../bin/keyreeve.js', import.meta.url));
/** A password that satisfies every rule. */
export const goodPassword = 'wombat orbit velvet 42';

/** A start takes half a second; machines that run tests are busy. */
const startMsMax = 30_000;
const exitMsMax = 30_000;

export type Environment = Readonly<Record<string, string>>;
export type LogRecord = Readonly<Record<string, unknown>>;

export interface Exit {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** This process's environment, less what could configure the program. */
export function cleanEnvironment(): Environment {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:KEYREEVE_|NODE_|npm_)/.test(name));
  return Object.fromEntries(inherited) as Environment;
}

/** For a program on free ports whose data lies in `folder`. */
export function environmentFor(folder: string, more: Environment = {}): Environment {
  return {
    ...cleanEnvironment(),
    KEYREEVE_DATABASE_URL: `sqlite:${databaseIn(folder)}`,
    KEYREEVE_PORT: '0',
    KEYREEVE_ADMIN_PORT: '0',
    KEYREEVE_DRAIN_SECONDS: '0',
    ...more,
  };
}

export const databaseIn = (folder: string): string => join(folder, 'data', 'keyreeve.db');

/** Runs a command to its end. */
export async function runProgram(
  args: readonly string[],
  { folder, environment = {}, input = '' }: { folder: string; environment?: Environment; input?: string },
): Promise<Exit> {
  const child = spawn(process.execPath, [keyreeveBin, ...args], {
    cwd: folder,
    env: environmentFor(folder, environment),
  });
  const program = new Program(child, folder);
  child.stdin.on('error', () => undefined).end(input);
  return program.exited();
}

/** Starts the service in `folder` and waits until it says where it listens. @param command for Node, instead of `keyreeve serve` */
export async function startProgram(
  folder: string,
  environment: Environment = {},
  command: readonly string[] = [keyreeveBin, 'serve'],
): Promise<Program> {
  const program = new Program(
    spawn(process.execPath, command, {
      cwd: folder,
      env: environmentFor(folder, environment),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
    folder,
  );
  program.environment = environment;
  await program.waitForRecord('listening');
  return program;
}

/** Starts the service in a folder that goes away with it. */
export async function newProgram(environment: Environment = {}, command?: readonly string[]): Promise<Program> {
  const folder = newTempFolder();
  try {
    const program = await startProgram(folder.path, environment, command);
    program.cleanUp = () => folder[Symbol.dispose]();
    return program;
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

export class Program implements AsyncDisposable {
  readonly folder: string;
  readonly child: ChildProcess;
  /** All that it has printed. */
  stdout = '';
  stderr = '';
  /** Beside what every program gets. */
  environment: Environment = {};
  cleanUp: () => void = () => undefined;
  readonly #closed: Promise<unknown>;
  #hasEnded = false;

  constructor(child: ChildProcess, folder: string) {
    this.child = child;
    this.folder = folder;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#closed = once(child, 'close').finally(() => (this.#hasEnded = true));
  }

  get url(): string {
    return String(this.records('listening')[0]?.['url']);
  }

  get adminUrl(): string {
    return String(this.records('listening')[0]?.['adminUrl']);
  }

  /** Its log so far. A line that isn't JSON fails the test. */
  records(event?: string): LogRecord[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    const all = whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogRecord);
    return event === undefined ? all : all.filter((record) => record['event'] === event);
  }

  /** @throws Error with all that was printed when it ends first or takes too long */
  async waitForRecord(event: string): Promise<LogRecord> {
    return this.waitFor(`a record “${event}”`, () => this.records(event)[0]);
  }

  /** Waits until `find` finds something in what has been printed. */
  async waitFor<T>(what: string, find: () => T | undefined): Promise<T> {
    const bound = AbortSignal.timeout(startMsMax);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#hasEnded || bound.aborted) {
        this.child.kill('SIGKILL');
        await this.#closed;
        throw new Error(`no ${what}; it printed:\n${this.stdout}${this.stderr}`);
      }
      const turn = new AbortController();
      const signal = AbortSignal.any([bound, turn.signal]);
      const more = [this.child.stdout, this.child.stderr].flatMap((stream) =>
        stream ? [once(stream, 'data', { signal })] : [],
      );
      await Promise.race([...more, this.#closed]).catch(() => undefined);
      // What was listened to in vain would be kept for as long as the program runs.
      turn.abort();
      await Promise.allSettled(more);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** @throws Error when it doesn't end in time; it is killed then */
  async exited(msMax = exitMsMax): Promise<Exit> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.child.kill('SIGKILL');
    }, msMax);
    await this.#closed;
    clearTimeout(timer);
    if (isLate) throw new Error(`still running after ${msMax} ms; it printed:\n${this.stdout}${this.stderr}`);
    return { status: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Asks it to stop and waits. */
  stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited();
  }

  /** A command beside the running service, on the same data and with the same configuration. */
  command(args: readonly string[], input = ''): Promise<Exit> {
    return runProgram(args, { folder: this.folder, environment: this.environment, input });
  }

  async call(method: string, path: string, headers: Environment = {}, json?: unknown): Promise<Answered> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** Makes an account on the command line and signs in over HTTP. */
  async signIn(email = 'you@example.com'): Promise<{ accessToken: string; refreshToken: string }> {
    const created = await this.command(['account', 'create', email, '--password-stdin'], goodPassword);
    if (created.status !== 0) throw new Error(created.stderr);
    const answer = await this.call('POST', '/auth/token', basic(email, goodPassword));
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json as { accessToken: string; refreshToken: string };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#closed;
    this.cleanUp();
  }
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  /** Undefined for what isn't JSON. */
  readonly json: unknown;
}

export const basic = (email: string, password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
});

export const bearer = (credential: string): { authorization: string } => ({ authorization: `Bearer ${credential}` });
