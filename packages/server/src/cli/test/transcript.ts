/**
 * Transcripts: what a user types and what the program answers, in a text file that reads like a terminal.
 *
 *     # A comment.
 *     $ a line for the shell
 *     what it prints on standard output
 *     ! what it prints on standard error
 *     [exit 64]                               (left out when it is 0)
 *
 * `<ACCOUNT>`, `<KEY-ID>`, `<KEY>`, `<HINT>`, `<KID>`, `<MASTERKEY>`, `<PASSWORD>` and `<CHECKPOINT>` stand for what differs
 * from run to run; `<KEY-2>` for another of the same kind. A placeholder means the same text wherever it stands, in commands
 * as well, and two placeholders never mean the same. `<TIME>` is any time.
 * Two spaces or more stand for any such gap, because columns are as wide as ids are long. All else is literal.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newestSchema } from '../../foundation/database/migrate.ts';
import { sendCommand } from '../../../test/e2e/command-client.ts';
import { cleanEnvironment, databaseIn, keyreeveBin, Program, type Exit } from '../../../test/e2e/program.ts';
import { parseLine, type KeyreeveRun } from './shell-line.ts';

const commandClient = fileURLToPath(new URL('../../../test/e2e/command-client.ts', import.meta.url));

export interface Step {
  readonly command: string;
  readonly expected: string;
}

/** What each placeholder can stand for. */
const kinds: Readonly<Record<string, string>> = {
  ACCOUNT: String.raw`acc_[0-9A-Za-z]{22}`,
  'KEY-ID': String.raw`[1-9]\d{0,15}`,
  KEY: String.raw`(?:krv|acme_live|acme_test)_[0-9A-Za-z]{49}`,
  HINT: String.raw`(?:krv|acme_live|acme_test)_…[0-9A-Za-z]{4}`,
  KID: String.raw`[\w-]{22}`,
  PASSWORD: String.raw`[0-9A-Za-z]{30}`,
  CHECKPOINT: String.raw`kra1\.[0-9a-z-]+\.[\w-]{43}`,
  WEBHOOK: String.raw`whe_[0-9A-Za-z]{22}`,
  SECRET: String.raw`whsec_[0-9A-Za-z+/]{43}=`,
  MASTERKEY: String.raw`[0-9a-f]{16}`,
  TIME: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
};
const placeholder = /<(KEY-ID|[A-Z]+)(?:-\d+)?>/g;

export function parseTranscript(text: string): Step[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines
    .join('\n')
    .split(/^\$ /m)
    .slice(1)
    .map((block) => {
      const end = block.indexOf('\n');
      return { command: block.slice(0, end), expected: block.slice(end + 1).trimEnd() };
    });
}

/** A shell in which `keyreeve` has its data in `folder`. */
export class Shell {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #hostPath: string | undefined;
  /** What placeholders have turned out to mean. */
  readonly #known = new Map<string, string>();

  /**
   * @param hostPath the socket of a command host; without, each command is a process of the program
   * @param database what the program needs to work on it; without, an embedded one in `folder`
   */
  constructor(folder: string, hostPath?: string, database?: Readonly<Record<string, string>>) {
    const bin = join(folder, 'bin');
    this.#hostPath = hostPath;
    this.#folder = join(folder, 'work');
    mkdirSync(bin);
    mkdirSync(this.#folder);
    const launcher = join(bin, 'keyreeve');
    const words = [process.execPath, ...(hostPath === undefined ? [keyreeveBin] : [commandClient, hostPath])];
    writeFileSync(launcher, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
    chmodSync(launcher, 0o755);
    const inherited = cleanEnvironment();
    this.#environment = {
      ...inherited,
      PATH: `${bin}${delimiter}${inherited['PATH'] ?? ''}`,
      ...(database ?? { KEYREEVE_DATABASE_URL: `sqlite:${databaseIn(this.#folder)}` }),
    };
    this.#known.set('<FOLDER>', this.#folder).set('<NODE>', process.versions.node);
    this.#known.set('<SQLITE>', process.versions['sqlite'] ?? '').set('<VERSION>', packageVersion());
    this.#known.set('<SCHEMA>', String(newestSchema('sqlite')));
  }

  /** @returns what was printed, with placeholders where the expected lines have them and the text fits */
  async run({ command, expected }: Step): Promise<string> {
    const line = command.replaceAll(placeholder, (name) => this.#known.get(name) ?? name);
    const { status, stdout, stderr } = await this.#execute(line);
    const wrong = stderr === '' ? '' : `${stderr.trimEnd()}\n`.replaceAll(/^(?=.)/gm, '! ');
    const printed = `${stdout}${wrong}${status === 0 ? '' : `[exit ${status}]`}`.trimEnd();
    const lines = expected.split('\n');
    return printed
      .split('\n')
      .map((actual, index) => (this.#fits(actual, lines[index] ?? '') ? lines[index] : actual))
      .join('\n');
  }

  async #execute(line: string): Promise<Exit> {
    const runs = this.#hostPath === undefined ? undefined : parseLine(line);
    if (runs === undefined) return this.#inShell(line);
    let result: Exit = { status: 0, stdout: '', stderr: '' };
    for (const run of runs) {
      const { status, stdout, stderr } = await this.#inHost(run);
      result = { status, stdout: result.stdout + stdout, stderr: result.stderr + stderr };
    }
    return result;
  }

  async #inHost({ before, environment, args, redirections, after }: KeyreeveRun): Promise<Exit> {
    const file = (operator: string): string | undefined => {
      const [, path] = redirections.find(([each]) => each === operator) ?? [];
      return path === undefined ? undefined : resolve(this.#folder, path);
    };
    const path = file('<');
    // As bytes, because an input need not be UTF-8.
    const input = before === undefined ? path && readFileSync(path) : this.#outputOf(before);
    const result = await sendCommand(this.#hostPath ?? '', {
      args,
      environment: { ...this.#environment, ...environment },
      folder: this.#folder,
      input: input ? input.toString('base64') : '',
    });
    let { stdout, stderr } = result;
    if (file('2>&1') !== undefined) [stdout, stderr] = [stdout + stderr, ''];
    const [output, errors] = [file('>'), file('2>')];
    if (output !== undefined) [stdout] = ['', writeFileSync(output, stdout)];
    if (errors !== undefined) [stderr] = ['', writeFileSync(errors, stderr)];
    if (after === undefined) return { status: result.status, stdout, stderr };
    const last = await this.#inShell(after, stdout);
    return { ...last, stderr: stderr + last.stderr };
  }

  /** Of `printf` or `echo`. */
  #outputOf(line: string): Buffer {
    return execFileSync('sh', ['-c', line], { cwd: this.#folder, env: this.#environment });
  }

  #inShell(line: string, input = ''): Promise<Exit> {
    const child = spawn('sh', ['-c', line], { cwd: this.#folder, env: this.#environment });
    // A command such as `head` ends before it has read everything.
    child.stdin.on('error', () => undefined).end(input);
    return new Program(child, this.#folder).exited();
  }

  #fits(actual: string, expected: string): boolean {
    const names: string[] = [];
    const source = expected
      .split(/(<(?:KEY-ID|MASTER-KEY-ID|[A-Z]+)(?:-\d+)?>| {2,})/)
      .map((part) => {
        if (/^ {2,}$/.test(part)) return ' {2,}';
        const kind = new RegExp(`^${placeholder.source}$`).exec(part)?.[1] ?? '';
        const known = this.#known.get(part);
        if (known !== undefined || !(kind in kinds)) return RegExp.escape(known ?? part);
        names.push(part);
        return `(${kinds[kind]})`;
      })
      .join('');
    const found = new RegExp(`^${source}$`).exec(actual);
    if (!found) return false;
    for (const [index, name] of names.entries()) {
      if (name === '<TIME>') continue;
      const value = found[index + 1] ?? '';
      // Another name is another thing.
      if (
        (this.#known.get(name) ?? value) !== value ||
        [...this.#known].some(([it, its]) => its === value && it !== name)
      )
        return false;
      this.#known.set(name, value);
    }
    return true;
  }
}

function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
