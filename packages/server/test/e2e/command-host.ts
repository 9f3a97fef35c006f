/**
 * Runs commands of the program one after another in one process, because most of a command's time is its start. Each command
 * gets arguments, an environment, a working directory and an input of its own, as a process would. The runner starts one host for
 * all tests of a run, and gives them its socket in TEST_COMMAND_HOST.
 *
 * Not for commands that run until a test ends them, or that wait for other commands: they delay those of all tests.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import type { CommandRequest, CommandResult } from './command-client.ts';

export interface CommandHost extends Disposable {
  /** Of its socket. */
  readonly path: string;
}

/** The host ends with this process, and does not keep it running. */
export async function startCommandHost(): Promise<CommandHost> {
  const folder = newTempFolder();
  const path = join(folder.path, 'host');
  const child = fork(import.meta.filename, [path], { execArgv: ['--disable-proto=delete', '--no-warnings'] });
  const dispose = (): void => {
    child.kill('SIGKILL');
    folder[Symbol.dispose]();
  };
  const first = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => 'ended')]);
  if (first === 'ended') {
    dispose();
    throw new Error('the command host ended before it listened');
  }
  child.unref();
  child.channel?.unref();
  process.once('exit', dispose);
  return { path, [Symbol.dispose]: dispose };
}

let shared: Promise<string> | undefined;

/** @returns the socket of the host that all tests of a run share; without a runner, of one that this process shares */
export function sharedCommandHost(): Promise<string> {
  const { TEST_COMMAND_HOST: ofRunner } = process.env;
  return (shared ??= ofRunner === undefined ? startCommandHost().then(({ path }) => path) : Promise.resolve(ofRunner));
}

class Collector extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

async function listen(path: string): Promise<void> {
  const { run } = await import('../../src/cli/run.ts');
  const report = process.stderr;
  const home = process.cwd();
  let last: Promise<unknown> = Promise.resolve();
  /** Fails the command that runs. */
  let onException = reportStray;

  function reportStray(error: unknown): void {
    report.write(`the command host: after the end of its command: ${textOf(error)}\n`);
  }

  async function runCommand({ args, environment, folder, input = '' }: CommandRequest): Promise<CommandResult> {
    const [stdout, stderr] = [new Collector(), new Collector()];
    const stdin = Readable.from([Buffer.from(input, 'base64')]);
    for (const [name, value] of Object.entries({ stdin, stdout, stderr, env: { ...environment } })) {
      Object.defineProperty(process, name, { value, configurable: true });
    }
    process.chdir(folder);
    const crash = Promise.withResolvers<never>();
    onException = crash.reject;
    // oxlint-disable-next-line keyreeve/no-test-bounds -- the commands of all tests wait for this one
    const timer = setTimeout(() => {
      report.write(`the command host ends, because a command does not end: ${args.join(' ')}\n`);
      process.exit(1);
    }, programMsMax);
    try {
      // At the usual priority, which a process cannot regain.
      const status = await Promise.race([run(args, () => undefined), crash.promise]);
      return { status, stdout: stdout.text, stderr: stderr.text };
    } catch (error) {
      return { status: 1, stdout: stdout.text, stderr: `${stderr.text}${textOf(error)}\n` };
    } finally {
      clearTimeout(timer);
      onException = reportStray;
      // A disk cannot be unmounted while this process is in one of its folders.
      process.chdir(home);
    }
  }

  async function answer(socket: Socket): Promise<void> {
    // Without this option, the socket is destroyed before the response.
    const chunks = await Array.fromAsync(socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
    const request = JSON.parse(Buffer.concat(chunks).toString()) as CommandRequest;
    const result = last.then(() => runCommand(request));
    last = result.catch(() => undefined);
    socket.end(JSON.stringify(await result));
  }

  process.on('uncaughtException', (error) => onException(error));
  process.on('disconnect', () => process.exit());
  createServer({ allowHalfOpen: true }, (socket) => {
    // Of a client that has been killed.
    socket.on('error', () => socket.destroy());
    answer(socket).catch(() => socket.destroy());
  }).listen(path, () => process.send?.('ready'));
}

// Without `await`, which `require` rejects (`shared-process.ts`).
if (import.meta.main) void listen(process.argv[2] ?? '');
