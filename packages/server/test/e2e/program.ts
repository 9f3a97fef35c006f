/**
 * Starts the program as a user does, as a separate process with its own environment, folder and free ports. The host of all tests
 * runs short commands (`command-host.ts`). This file imports nothing of the program.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { awaited, until } from '../../test-kit/until.ts';
import { sendCommand } from './command-client.ts';
import { sharedCommandHost } from './command-host.ts';

/** The launcher that `npx keyreeve` runs. */
export const keyreeveBin = fileURLToPath(new URL('../../bin/keyreeve.js', import.meta.url));

/** A password that satisfies every rule. */
export const goodPassword = 'wombat orbit velvet 42';

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
    // Runs the sources, even if this checkout contains a build.
    NODE_OPTIONS: '--conditions=keyreeve-sources',
    ...more,
  };
}

export const databaseIn = (folder: string): string => join(folder, 'data', 'keyreeve.db');

interface CommandOptions {
  readonly folder: string;
  readonly environment?: Environment;
  readonly input?: string;
  /** The launcher. Default: that of the checkout. */
  readonly bin?: string;
}

/** Whether the command runs for seconds or longer: in the host of all tests, it would delay the other ones. */
const isLong = ([name, subcommand]: readonly string[]): boolean =>
  name === 'serve' || (name === 'prove-revocation' && subcommand !== 'credential');

/**
 * Runs a command to its end: in the host of all tests, unless it is long, of another program, or the environment configures Node. Tests of the process
 * itself, of commands beside each other, and of commands that wait for the test use `runProcess`.
 */
export async function runProgram(args: readonly string[], options: CommandOptions): Promise<Exit> {
  const isForNode = Object.keys(options.environment ?? {}).some((name) => name.startsWith('NODE_'));
  const isOfHost = (options.bin ?? keyreeveBin) === keyreeveBin;
  return isForNode || isLong(args) || !isOfHost ? runProcess(args, options) : runInHost(args, options);
}

/** Runs a command in the host of all tests, also a `serve` that must fail before it listens. */
export async function runInHost(
  args: readonly string[],
  { folder, environment = {}, input = '' }: CommandOptions,
): Promise<Exit> {
  const host = await sharedCommandHost();
  const request = {
    args,
    environment: environmentFor(folder, environment),
    folder,
    input: Buffer.from(input).toString('base64'),
  };
  return awaited(`the command “${args.join(' ')}” ends`, sendCommand(host, request));
}

/** Runs a command to its end, in a process of its own. */
export async function runProcess(
  args: readonly string[],
  { folder, environment = {}, input = '', bin = keyreeveBin }: CommandOptions,
): Promise<Exit> {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: environmentFor(folder, environment),
  });
  const program = new Program(child, folder);
  child.stdin.on('error', () => undefined).end(input);
  return program.exited();
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
  const [bin = ''] = command;
  if (bin.endsWith('/keyreeve.js')) program.bin = bin;
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
  /** The launcher of its commands. */
  bin = keyreeveBin;
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

  /** @throws Error with the output if the process ends before */
  async waitForRecord(event: string): Promise<LogRecord> {
    return this.waitFor(`a record “${event}”`, () => this.records(event)[0]);
  }

  /** Waits until `find` returns a value; called after each output. @param what the value, for the report of a wait without end */
  async waitFor<T>(what: string, find: () => T | undefined): Promise<T> {
    return this.#await(`the program has ${what}`, async (signal) => {
      for (;;) {
        const found = find();
        if (found !== undefined) return found;
        if (this.#hasEnded) throw new Error(`no ${what}; the output:\n${this.stdout}${this.stderr}`);
        const turn = new AbortController();
        const either = AbortSignal.any([signal, turn.signal]);
        const more = [this.child.stdout, this.child.stderr].flatMap((stream) =>
          stream ? [once(stream, 'data', { signal: either })] : [],
        );
        await Promise.race([...more, this.#closed]).catch(() => signal.throwIfAborted());
        // Removes the listeners, which otherwise accumulate.
        turn.abort();
        await Promise.allSettled(more);
      }
    });
  }

  /** A wait that the watchdog ends also ends the program, and prints its output. */
  #await<T>(what: string, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return awaited(what, (signal) => {
      signal.addEventListener('abort', () => {
        process.stderr.write(`${what}: not so far; the output:\n${this.stdout}${this.stderr}\n`);
        this.child.kill('SIGKILL');
      });
      return start(signal);
    });
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Waits for the end of the process. */
  async exited(): Promise<Exit> {
    await this.#await('the program ends', () => this.#closed);
    return { status: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited();
  }

  /** Sends SIGTERM until the end: signals within half a second count as one. */
  async endAtSecondSignal(): Promise<Exit> {
    await until('the program ends', () => {
      if (!this.#hasEnded) this.signal('SIGTERM');
      return this.#hasEnded;
    });
    return this.exited();
  }

  /** Runs a command on the same data and with the same configuration. */
  command(args: readonly string[], input = ''): Promise<Exit> {
    const { folder, environment, bin } = this;
    return runProgram(args, { folder, environment, input, bin });
  }

  /** On a connection of its own: an idle one would delay the end of the service. */
  async call(method: string, path: string, headers: Environment = {}, json?: unknown): Promise<HttpResponse> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: {
        connection: 'close',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** Creates an account with a command and signs in over HTTP. */
  async signIn(email = 'you@example.com'): Promise<{ accessToken: string; refreshToken: string }> {
    // The command does not need the Node options of the service, so the host can run it.
    const settings = Object.entries(this.environment).filter(([name]) => !name.startsWith('NODE_'));
    const created = await runProgram(['account', 'create', email, '--password-stdin'], {
      folder: this.folder,
      environment: Object.fromEntries(settings),
      input: goodPassword,
      bin: this.bin,
    });
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
