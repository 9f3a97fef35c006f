/** Verifications of this version compared with an earlier commit, each on a database that it seeded itself. */
import { verifyAt } from './beside.ts';
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { forwardRequest, keyreeve, verifyRequest } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs, type Running } from './processes.ts';
import type { Bar, Report } from './report.ts';
import type { RequestTemplate } from './request.ts';
import { rounded, type Figure } from './rounds.ts';
import type { Seeded } from './seeded.ts';
import { commitOf } from './variant.ts';

const connections = 64;
const rates = [2_000, 10_000];
const bar: Bar = { atMost: 1.02 };

interface Version {
  readonly name: 'now' | 'before';
  readonly root: string | undefined;
  readonly seeded: Seeded;
}

export async function before(bench: Bench, report: Report): Promise<void> {
  const { commit } = bench.options;
  if (commit === undefined) throw new Error('name the commit to compare with: --commit REF');
  using earlier = commitOf(commit);
  for (const kind of bench.options.kinds) {
    const databases = await bench.databases(kind);
    const { keys } = bench.options;
    const versions: readonly Version[] = [
      { name: 'now', root: undefined, seeded: await databases.seed('now', keys) },
      { name: 'before', root: earlier.root, seeded: await databases.seed('before', keys, { root: earlier.root }) },
    ];
    await processorTimes(bench, report, kind, versions);
    await latencies(bench, report, kind, versions);
  }
}

/** Closed loops on one core. */
async function processorTimes(bench: Bench, report: Report, kind: Kind, versions: readonly Version[]): Promise<void> {
  await using programs = new Programs();
  const requests: Readonly<Record<string, (seeded: Seeded) => RequestTemplate>> = {
    '/auth/forward': ({ keys }) => forwardRequest(keys),
    '/auth/verify': ({ keys, serviceKey }) => verifyRequest(keys, serviceKey),
  };
  const servers = await startAll(bench, programs, versions, oneCore);
  for (const [path, request] of Object.entries(requests)) {
    const sides = servers.map(({ name, seeded, server }) => ({
      name,
      run: () => {
        const load = { connections, seconds: bench.options.seconds, request: request(seeded) };
        return measure(server, load, server.verifyPort);
      },
    }));
    const found = await bench.compare(report, sides);
    report.ratio(`${titleOf(kind)}: processor time of ${path}, now / before`, found, of('processorUs'), bar);
  }
}

async function latencies(bench: Bench, report: Report, kind: Kind, versions: readonly Version[]): Promise<void> {
  await using programs = new Programs();
  const servers = await startAll(bench, programs, versions);
  for (const rate of rates) {
    const sides = servers.map(({ name, seeded, server }) => ({
      name,
      run: () => verifyAt(server, seeded, rate, bench.options.seconds),
    }));
    const found = await bench.compare(report, sides);
    for (const figure of ['msP50', 'msP99'] as const) {
      const what = `${titleOf(kind)}: ${figure === 'msP50' ? 'p50' : 'p99'} at ${rounded(rate)}/s, now / before`;
      report.ratio(what, found, of(figure));
    }
  }
}

const of = (figure: Figure) => ['now', 'before', figure] as const;

interface Started extends Version {
  readonly server: Running;
}

async function startAll(
  bench: Bench,
  programs: Programs,
  versions: readonly Version[],
  cores?: string,
): Promise<Started[]> {
  const started: Started[] = [];
  for (const version of versions) {
    const { root, seeded } = version;
    const { hasVerifier } = bench.options;
    const options = { hasVerifier, ...(root === undefined ? {} : { root }), ...(cores === undefined ? {} : { cores }) };
    started.push({ ...version, server: programs.add(await keyreeve(seeded, options)) });
  }
  return started;
}
