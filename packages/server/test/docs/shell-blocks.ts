/** The code blocks of a page, run in one shell after those of the README that sign in. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { environmentFor, newProgram, type Environment } from '../e2e/program.ts';
import { assertLike, shownJson } from './shown-json.ts';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

export const readPage = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
export const shellBlocks = (page: string): string[] =>
  [...page.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, block = '']) => block);

/**
 * A block of a tutorial, in a folder instead of beside the checkout, with the archives in `dist/` of that folder.
 * @param packages the command that builds the archives; default: they are there
 */
export const placedIn = (folder: string, block: string, packages = 'true'): string =>
  block
    .replace('npm --prefix "$KEYREEVE" run packages', packages)
    .replaceAll('"$KEYREEVE/..', `"${folder}`)
    .replaceAll('"$KEYREEVE"/dist', `'${folder}'/dist`);

/** They sign in and set the variables. */
const setup = shellBlocks(readPage('README.md')).filter((block) => /^(?:BASE_URL|ACCESS_TOKEN)=/.test(block));
const separator = '-- next block --\n';

/** @returns what each block prints @throws if a command fails */
export async function outputsOf(
  blocks: readonly string[],
  program: Awaited<ReturnType<typeof newProgram>>,
): Promise<string[]> {
  // Each response ends its line.
  const functions = `curl() { command curl "$@"; printf '\\n'; }\n`;
  const script = [functions + setup.join(''), ...blocks].join(`printf '%s' '${separator}'\n`);
  const { stdout } = await promisify(execFile)(
    '/bin/sh',
    ['-eu', '-c', script.replaceAll('http://127.0.0.1:8787', program.url)],
    { cwd: root, env: environmentFor(program.folder), timeout: programMsMax },
  );
  return stdout.split(separator).slice(1);
}

export interface PageRun {
  readonly page: string;
  readonly blocks: readonly string[];
  readonly outputs: readonly string[];
  /** What the first block that contains the text prints. */
  readonly outputOf: (text: string) => string;
}

/**
 * Runs the blocks of a page in a service of its own.
 * @param settings of the service, which the blocks that start it set
 * @param earlier blocks of another page, which this one continues
 */
export async function runPage(
  path: string,
  settings: (page: string) => Environment = () => ({}),
  earlier: readonly string[] = [],
): Promise<PageRun> {
  const page = readPage(path);
  const blocks = shellBlocks(page).filter((block) => !block.endsWith(' npm start\n'));
  await using program = await newProgram(settings(page));
  const outputs = (await outputsOf([...earlier, ...blocks], program)).slice(earlier.length);
  assert.equal(outputs.length, blocks.length);
  const outputOf = (text: string): string => outputs[blocks.findIndex((block) => block.includes(text))] ?? '';
  return { page, blocks, outputs, outputOf };
}

/** Asserts that the blocks print the JSON that the page shows after them. @param count how many the page shows at least */
export function assertShownJson({ page, blocks, outputs }: PageRun, count: number): void {
  const shown = shownJson(page, blocks);
  assert.ok(shown.length >= count, `${shown.length}`);
  for (const [index, json] of shown) assertLike(JSON.parse(outputs[index]?.trim() ?? ''), json, blocks[index] ?? '');
}
