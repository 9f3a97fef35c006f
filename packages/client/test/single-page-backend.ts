/** The backend of the tutorial for single-page apps: its files, and the packages that the commands of the page install. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { until } from '../../server/test-kit/until.ts';
import { readPage, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { TutorialFolder } from './tutorial.ts';

const page = readPage('docs/tutorials/single-page-app.md');

/** Of the page: the name of each file, and its block. */
export const files: readonly (readonly [string, string])[] = [
  ...page.matchAll(/[Ww]rite `([\w./]+)`[^]*?\n\n *```(?:js|html)\n([^]*?)^ *```$/gm),
].map(([, name = '', block = '']) => [name, block.replaceAll(/^ {3}/gm, '')]);

/** Moves the clock of the backend with a signal, because a test does not wait for 30 minutes. */
const movedClock = `let offsetMs = 0;
const now = Date.now;
Date.now = () => now() + offsetMs;
process.on('SIGUSR2', () => {
  offsetMs += 31 * 60_000;
  console.log('moved');
});
`;

export interface Backend extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  output(): string;
}

/** What the first block of the page installs, for one Node and any number of backends. */
export class InstalledBackend implements AsyncDisposable {
  readonly #folder: TutorialFolder;
  readonly #node: string;

  private constructor(folder: TutorialFolder, node: string) {
    this.#folder = folder;
    this.#node = node;
  }

  static async create(node = process.execPath): Promise<InstalledBackend> {
    const folder = await TutorialFolder.create(node);
    try {
      folder.addArchive();
      await folder.run(shellBlocks(page)[0] ?? '');
      return new InstalledBackend(folder, node);
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts `server.js` with the files of the page. @param keyreeveUrl of the service */
  async start(keyreeveUrl: string, more: Readonly<Record<string, string>> = {}): Promise<Backend> {
    const installed = join(this.#folder.path, 'accounts-app');
    const folder = newTempFolder();
    const at = (name: string): string => join(folder.path, name);
    symlinkSync(join(installed, 'node_modules'), at('node_modules'));
    cpSync(join(installed, 'package.json'), at('package.json'));
    for (const [name, text] of [...files, ['clock.js', movedClock] as const]) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    }
    const port = await freePort();
    const env = { ...process.env, KEYREEVE_URL: keyreeveUrl, PORT: String(port), ...more };
    const child = spawn(this.#node, ['--import', './clock.js', 'server.js'], { cwd: folder.path, env });
    const closed = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const url = `http://127.0.0.1:${port}`;
    const dispose = async (): Promise<void> => {
      if (child.kill('SIGKILL')) await closed;
      folder[Symbol.dispose]();
    };
    try {
      await until('the backend listens', () => {
        assert.equal(child.exitCode, null, output);
        return fetch(url).then(
          ({ ok }) => ok,
          () => false,
        );
      });
    } catch (error) {
      await dispose();
      throw error;
    }
    return { url, child, output: () => output, [Symbol.asyncDispose]: dispose };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#folder[Symbol.asyncDispose]();
  }
}
