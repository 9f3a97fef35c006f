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
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newestSchema } from '../../foundation/database/migrate.ts';
import { sendCommand } from '../../../test/e2e/command-client.ts';
import { cleanEnvironment, databaseIn, keyreeveBin, Program, type Exit } from '../../../test/e2e/program.ts';

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

/** A line that needs no shell: words of `keyreeve`, bare or in single quotes. */
const plainCommand = /^keyreeve((?: (?:'[^']*'|[^\s'"`$|&;<>\\*?()~#]+))*)$/;

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
    const [, words] = plainCommand.exec(line) ?? [];
    if (this.#hostPath !== undefined && words !== undefined) {
      const args = [...words.matchAll(/'([^']*)'|[^\s']+/g)].map(([word, quoted]) => quoted ?? word);
      return sendCommand(this.#hostPath, { args, environment: this.#environment, folder: this.#folder });
    }
    const child = spawn('sh', ['-c', line], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
