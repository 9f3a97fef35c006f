/**
 * Runs commands of the program one after another in one process, because most of a command's time is its start. Each command
 * gets arguments, an environment, a working directory and an input of its own, as a process would.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import type { CommandRequest, CommandResult } from './command-client.ts';

export interface CommandHost extends Disposable {
  /** Of its socket. */
  readonly path: string;
}

export async function startCommandHost(): Promise<CommandHost> {
  const folder = newTempFolder();
  const path = join(folder.path, 'host');
  const child = fork(import.meta.filename, [path], { execArgv: ['--disable-proto=delete', '--no-warnings'] });
  const dispose = (): void => {
    child.kill('SIGKILL');
    folder[Symbol.dispose]();
  };
  const first = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => 'ended')]);
  if (first !== 'ended') return { path, [Symbol.dispose]: dispose };
  dispose();
  throw new Error('the command host ended before it listened');
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

async function listen(path: string): Promise<void> {
  const { run } = await import('../../src/cli/run.ts');
  let last: Promise<unknown> = Promise.resolve();

  async function runCommand({ args, environment, folder, input = '' }: CommandRequest): Promise<CommandResult> {
    const [stdout, stderr] = [new Collector(), new Collector()];
    const stdin = Readable.from([Buffer.from(input, 'base64')]);
    for (const [name, value] of Object.entries({ stdin, stdout, stderr, env: { ...environment } })) {
      Object.defineProperty(process, name, { value, configurable: true });
    }
    process.chdir(folder);
    const status = await run(args);
    return { status, stdout: stdout.text, stderr: stderr.text };
  }

  async function answer(socket: Socket): Promise<void> {
    // Without this option, the socket is destroyed before the response.
    const chunks = await Array.fromAsync(socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
    const request = JSON.parse(Buffer.concat(chunks).toString()) as CommandRequest;
    const result = last.then(() => runCommand(request));
    last = result.catch(() => undefined);
    socket.end(JSON.stringify(await result));
  }

  process.on('disconnect', () => process.exit());
  createServer({ allowHalfOpen: true }, (socket) => void answer(socket)).listen(path, () => process.send?.('ready'));
}

if (import.meta.main) await listen(process.argv[2] ?? '');
