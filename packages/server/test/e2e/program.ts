/**
 * Starts the program as a user does, as a separate process with its own environment, folder and free ports. Every wait has a
 * time limit. This file imports nothing of the program.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';

/** The launcher that `npx keyreeve` runs. */
export const keyreeveBin = fileURLToPath(new URL('../../bin/keyreeve.js', import.meta.url));
/** A password that satisfies every rule. */
export const goodPassword = 'wombat orbit velvet 42';

/** A start takes half a second, but machines that run tests are busy, and their disks stall. */
const startMsMax = 120_000;
const exitMsMax = 30_000;
/** Commands that process many rows run at a lower priority, so that tests in parallel slow them down several times. */
const commandMsMax = 300_000;

export type Environment = Readonly<Record<string, string>>;
export type LogRecord = Readonly<Record<string, unknown>>;

export interface Key {
  readonly id: number;
  readonly key: string;
}

export interface Exit {
  /** Null if a signal ended the process. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of this process without variables that configure the program. */
export function cleanEnvironment(): Environment {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:KEYREEVE_|NODE_|npm_)/.test(name));
  return Object.fromEntries(inherited) as Environment;
}

/** For a program on free ports with its data in `folder`. */
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
  return program.exited(commandMsMax);
}

/** Starts the service in `folder` and waits until it listens. @param command for Node, instead of `keyreeve serve` */
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

/** Starts the service in a temporary folder, which is deleted with it. */
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
  /** The complete output. */
  stdout = '';
  stderr = '';
  /** In addition to `environmentFor`. */
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

  /** The records of its log. A line that is not JSON fails the test. */
  records(event?: string): LogRecord[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    const all = whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogRecord);
    return event === undefined ? all : all.filter((record) => record['event'] === event);
  }

  /** @throws Error with the output if the process ends before, or after the time limit */
  async waitForRecord(event: string): Promise<LogRecord> {
    return this.waitFor(`a record “${event}”`, () => this.records(event)[0]);
  }

  /** Waits until `find` returns a value; called after each output. */
  async waitFor<T>(what: string, find: () => T | undefined): Promise<T> {
    const bound = AbortSignal.timeout(startMsMax);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#hasEnded || bound.aborted) {
        this.child.kill('SIGKILL');
        await this.#closed;
        throw new Error(`no ${what}; the output:\n${this.stdout}${this.stderr}`);
      }
      const turn = new AbortController();
      const signal = AbortSignal.any([bound, turn.signal]);
      const more = [this.child.stdout, this.child.stderr].flatMap((stream) =>
        stream ? [once(stream, 'data', { signal })] : [],
      );
      await Promise.race([...more, this.#closed]).catch(() => undefined);
      // Removes the listeners, which otherwise accumulate.
      turn.abort();
      await Promise.allSettled(more);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** @throws Error if the process does not end in time; then it is killed */
  async exited(msMax = exitMsMax): Promise<Exit> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.child.kill('SIGKILL');
    }, msMax);
    await this.#closed;
    clearTimeout(timer);
    if (isLate) throw new Error(`still running after ${msMax} ms; the output:\n${this.stdout}${this.stderr}`);
    return { status: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited();
  }

  /** Runs a command on the same data and with the same configuration. */
  command(args: readonly string[], input = ''): Promise<Exit> {
    return runProgram(args, { folder: this.folder, environment: this.environment, input });
  }

  async call(method: string, path: string, headers: Environment = {}, json?: unknown): Promise<HttpResponse> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** Creates an account with a command and signs in over HTTP. */
  async signIn(email = 'you@example.com'): Promise<{ accessToken: string; refreshToken: string }> {
    const created = await this.command(['account', 'create', email, '--password-stdin'], goodPassword);
    if (created.status !== 0) throw new Error(created.stderr);
    const response = await this.call('POST', '/auth/token', basic(email, goodPassword));
    if (response.status !== 200) throw new Error(response.text);
    return response.json as { accessToken: string; refreshToken: string };
  }

  /** Creates a key over HTTP. @throws unless the status is 201 */
  async createKey(accessToken: string, nickname = 'first'): Promise<Key> {
    const { status, text, json } = await this.call('POST', '/auth/api-keys', bearer(accessToken), { nickname });
    if (status !== 201) throw new Error(`${status}: ${text}`);
    return json as Key;
  }

  /** Creates a key of a new account. */
  async newKey(): Promise<Key & { readonly accessToken: string }> {
    const { accessToken } = await this.signIn();
    return { ...(await this.createKey(accessToken)), accessToken };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#closed;
    this.cleanUp();
  }
}

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export const basic = (email: string, password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
});

export const bearer = (credential: string): { authorization: string } => ({ authorization: `Bearer ${credential}` });
