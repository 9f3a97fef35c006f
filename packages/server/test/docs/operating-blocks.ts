/** Runs blocks of the pages for operators as they stand: only paths, URLs and questions of the terminal are replaced. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { keyreeveBin, type Environment } from '../e2e/program.ts';
import { blocksOf, type Block } from './operating-pages.ts';

export class OperatingBlocks {
  readonly #blocks: readonly Block[];
  readonly #unrun: Set<Block>;

  /** Those of the pages that a test runs. */
  constructor(pages: readonly string[]) {
    this.#blocks = pages.flatMap(blocksOf).filter(({ reason }) => reason === undefined);
    this.#unrun = new Set(this.#blocks);
  }

  /** The block, which counts as run. @param start of its text */
  take(page: string, start: string): string {
    const block = this.#blocks.find((one) => one.page === page && one.text.startsWith(start));
    assert.ok(block, `${page}: ${start}`);
    this.#unrun.delete(block);
    return block.text;
  }

  /** @param notTried pages whose blocks need a program that the machine lacks */
  assertAllTaken(notTried: ReadonlySet<string> = new Set()): void {
    const left = [...this.#unrun].filter(({ page }) => !notTried.has(page)).map(({ page, text }) => `${page}: ${text}`);
    assert.deepEqual(left, []);
  }
}

/** Stand for programs that this machine lacks, or that would change it. */
const functions = `
keyreeve() { '${process.execPath}' '${keyreeveBin}' "$@"; }
npm() { keyreeve doctor > /dev/null; }
systemctl() { :; }
chown() { :; }
`;

export interface Shell {
  readonly folder: string;
  readonly environment: Environment;
  /** What stands in the text, and what replaces it. */
  readonly replaced?: Readonly<Record<string, string>>;
}

/** @returns what the block prints @throws if a command fails */
export function runBlock(text: string, { folder, environment, replaced = {} }: Shell): string {
  const script = Object.entries(replaced).reduce((all, [shown, real]) => all.replaceAll(shown, real), text);
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', functions + script], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: programMsMax,
  });
  assert.equal(status, 0, `${script}\n${stdout}${stderr}`);
  return stdout;
}
