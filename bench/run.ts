/**
 * `npm run bench`: measures the figures of `figures.ts`, and prints them in the form of RESULTS.md.
 *
 *     npm run bench -- --list
 *     npm run bench -- [NAME…] [--record] [--rounds 7] [--seconds 1.5] [--keys 1000000] [--databases sqlite,postgres]
 *
 * Without a name, it measures all figures that are not only measured by name, in less than 20 minutes. `--record` writes each
 * result to RESULTS.md. `--one-port` measures without a verifier process. `--accept-noise` voids no round; with `--rounds 1
 * --seconds 1 --keys 20000` it checks that a figure works, and its numbers mean nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfChanged } from '../scripts/build.ts';
import { Bench } from './bench.ts';
import { kinds } from './databases.ts';
import { figures } from './figures.ts';
import { hasVerifyPort } from './keyreeve.ts';
import { generator } from './load.ts';
import { recordResult, Report } from './report.ts';

const noiseMax = 0.05;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1.5' },
    keys: { type: 'string', default: '1000000' },
    databases: { type: 'string', default: kinds.join(',') },
    commit: { type: 'string' },
    'one-port': { type: 'boolean', default: false },
    'accept-noise': { type: 'boolean', default: false },
  },
});

function list(): void {
  console.log('name | measures | required\n--- | --- | ---');
  for (const [name, { measures, required, isByNameOnly }] of Object.entries(figures))
    console.log(`${name}${isByNameOnly === true ? ' (by name only)' : ''} | ${measures} | ${required}`);
}

function chosen(): string[] {
  const unknown = positionals.find((name) => figures[name] === undefined);
  if (unknown !== undefined) throw new Error(`unknown figure ${unknown}; \`npm run bench -- --list\` lists them`);
  const all = Object.keys(figures).filter((name) => figures[name]?.isByNameOnly !== true);
  return positionals.length === 0 ? all : positionals;
}

async function measureAll(folder: string): Promise<void> {
  await buildIfChanged('program');
  await using bench = new Bench({
    keys: Number(values.keys),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    kinds: kinds.filter((kind) => values.databases.split(',').includes(kind)),
    hasVerifier: !values['one-port'],
    noiseMax: values['accept-noise'] ? Infinity : noiseMax,
    commit: values.commit,
    folder,
  });
  console.error(
    hasVerifyPort() && !values['one-port']
      ? 'verifications: the listener of a verifier process'
      : 'verifications: the main process, on the only port',
  );
  for (const name of chosen()) await measure(bench, name);
}

/** A figure that fails does not keep the others from being measured. */
async function measure(bench: Bench, name: string): Promise<void> {
  const startedAt = performance.now();
  const given = process.argv.slice(2).filter((arg) => arg !== '--record' && !positionals.includes(arg));
  const report = new Report([name, ...given].join(' '));
  console.error(`\n${name}: ${figures[name]?.measures}`);
  try {
    await figures[name]?.run(bench, report);
    console.log(`${String(report)}\n`);
    if (values.record) recordResult(name, String(report));
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
  console.error(`${name} took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

async function main(): Promise<void> {
  if (values.list) return list();
  generator();
  const folder = mkdtempSync(join(tmpdir(), 'keyreeve-bench-'));
  try {
    await measureAll(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
