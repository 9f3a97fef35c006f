/** Runs the test program of a client library: lines of JSON in both directions, as the README describes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

interface Reply {
  readonly id: number;
  readonly url?: string;
  readonly result?: { readonly valid: boolean; readonly [member: string]: unknown };
  readonly unavailable?: string;
  readonly transcript?: Readonly<Record<string, unknown>>;
  readonly source?: string;
  readonly secret?: string;
  readonly login?: string;
  readonly waits?: readonly number[];
  readonly key?: ProgramKey;
  readonly failure?: Failure;
}

/** The key of a login. */
export interface ProgramKey {
  readonly key: string;
  readonly keyId: number;
  readonly nickname: string;
  readonly scopes: readonly string[];
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** Of a request for a secret, and of a login. */
export interface Failure {
  readonly message: string;
  /** Of the error of the library; absent for another error. */
  readonly status?: number;
  readonly code?: string;
}

export interface ExchangeStart {
  /** Of Keyreeve. */
  readonly url: string;
  readonly keyId?: number | undefined;
  readonly audience?: string;
  /** The function of the library that returns identity tokens, and the URL, the host with its port or the path that it reads. */
  readonly token: readonly ['github' | 'google' | 'file', string];
}

export interface LoginStart {
  /** Of Keyreeve. */
  readonly url: string;
  readonly clientId: string;
  readonly scopes?: readonly string[];
}

export interface Logout {
  /** Of Keyreeve. */
  readonly url: string;
  readonly clientId: string;
  readonly key: string;
}

export interface GuardStart {
  readonly framework: string;
  /** Of Keyreeve. */
  readonly url: string;
  readonly serviceKey: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export class LibraryProgram implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  #ids = 0;
  #errors = '';

  constructor({ command, args, env = {}, cwd }: Command) {
    this.#process = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio: 'pipe' });
    const { stdout, stderr, stdin } = this.#process;
    if (!stdout || !stderr || !stdin) throw new Error('the program has no standard input and output');
    createInterface({ input: stdout }).on('line', (line) => this.#receive(line));
    stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    // The end of the program rejects all questions. The error of the pipe adds no information.
    stdin.on('error', () => undefined);
    this.#process.on('error', (error) => this.#fail(error.message)).on('close', () => this.#fail('it has ended'));
  }

  /** What the program has written to its standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** @returns the URL of the application behind the guard */
  async startGuard(guard: GuardStart): Promise<string> {
    const { url } = await this.#ask({ guard });
    if (url === undefined) throw new Error('the program has returned no URL');
    return url;
  }

  /** Moves the clock of a guard, a source or a login, which otherwise stands still. @param url of the application, or the name */
  async moveClock(url: string, ms: number): Promise<void> {
    await this.#ask({ moveClock: { url, ms } });
  }

  /** @returns the result, or undefined if it is unavailable */
  async verify(credential: string, options: Readonly<Record<string, unknown>> = {}): Promise<Reply['result']> {
    return (await this.#ask({ credential, options })).result;
  }

  /** Runs the scenario of `check-management.ts`. @returns what the library has returned */
  async manage(url: string, managementKey: string): Promise<Reply['transcript']> {
    return (await this.#ask({ management: { url, managementKey } })).transcript;
  }

  /** @returns the name of a source of secrets, which has a clock of its own */
  async startExchange(exchange: ExchangeStart): Promise<string> {
    const { source } = await this.#ask({ exchange });
    if (source === undefined) throw new Error('the program has returned no source');
    return source;
  }

  secret(source: string): Promise<Pick<Reply, 'secret' | 'failure'>> {
    return this.#ask({ secret: { source } });
  }

  async drop(source: string, secret: string): Promise<void> {
    await this.#ask({ drop: { source, secret } });
  }

  /** @returns the name of a login, which has a clock of its own */
  async startLogin(deviceLogin: LoginStart): Promise<string> {
    const { login } = await this.#ask({ deviceLogin });
    if (login === undefined) throw new Error('the program has returned no login');
    return login;
  }

  /** @returns the time until each wait of the login ends, in milliseconds */
  async waits(login: string): Promise<readonly number[]> {
    return (await this.#ask({ waits: { login } })).waits ?? [];
  }

  /** The outcome of a login, when it has ended. */
  key(login: string): Promise<Pick<Reply, 'key' | 'failure'>> {
    return this.#ask({ key: { login } });
  }

  async cancel(login: string): Promise<void> {
    await this.#ask({ cancel: { login } });
  }

  /** @returns the failure, if there is one */
  async logOut(deviceLogout: Logout): Promise<Failure | undefined> {
    return (await this.#ask({ deviceLogout })).failure;
  }

  #ask(request: object): Promise<Reply> {
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdin?.write(`${JSON.stringify({ id, ...request })}\n`);
      if (this.#process.exitCode !== null) this.#fail('it has ended');
    });
  }

  #receive(line: string): void {
    const reply = JSON.parse(line) as Reply;
    this.#waiting.get(reply.id)?.resolve(reply);
    this.#waiting.delete(reply.id);
  }

  #fail(reason: string): void {
    const error = new Error(`the program of the library does not answer: ${reason}\n${this.#errors}`);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'close');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
