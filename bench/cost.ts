/** Processor time of verifications on one core, compared with a constant response to the same request. */
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { batchRequest, forwardRequest, verifyRequest } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs, script, start, type Running } from './processes.ts';
import type { Bar, Report } from './report.ts';
import { constantRequest, type RequestTemplate } from './request.ts';

const connections = 64;
const batchSize = 100;

const bars: Readonly<Record<Kind, { readonly forward: Bar; readonly verify: Bar; readonly batch: Bar }>> = {
  sqlite: { forward: { atMost: 1.8 }, verify: { atLeast: 0.45 }, batch: { atMost: 0.65 } },
  postgres: { forward: {}, verify: {}, batch: {} },
};

export async function cost(bench: Bench, report: Report): Promise<void> {
  const { kinds } = bench.options;
  // PostgreSQL has no required figure: it is measured where it is the only kind.
  for (const kind of kinds.includes('sqlite') ? (['sqlite'] as const) : kinds) await compare(bench, report, kind);
}

async function compare(bench: Bench, report: Report, kind: Kind): Promise<void> {
  const { seconds } = bench.options;
  const { seeded } = await bench.shared(kind);
  const { keys, serviceKey } = seeded;
  await using programs = new Programs();
  const constant = programs.add(await start(script('limit-server.ts', '0'), { cores: oneCore }));
  const server = programs.add(await bench.keyreeve(seeded, { cores: oneCore }));
  const side = (name: string, running: Running, request: RequestTemplate, port?: number) => ({
    name,
    run: () => measure(running, { connections, seconds, request }, port),
  });
  const forward = forwardRequest(keys);
  const verify = verifyRequest(keys, serviceKey);
  const found = await bench.compare(report, [
    side('forward', server, forward, server.verifyPort),
    side('constant', constant, constantRequest(forward)),
    side('verify', server, verify, server.verifyPort),
    side('constant, POST', constant, constantRequest(verify)),
    side('batch', server, batchRequest(keys, serviceKey, batchSize), server.verifyPort),
  ]);
  const what = `${titleOf(kind)}: processor time of`;
  report.ratio(`${what} /auth/forward / constant`, found, ['forward', 'constant', 'processorUs'], bars[kind].forward);
  const ofVerify = ['constant, POST', 'verify', 'processorUs'] as const;
  report.ratio(`${what} a constant / /auth/verify`, found, ofVerify, bars[kind].verify);
  report.add(`${what} a credential in a batch of ${batchSize} / constant`, {
    values: found.ratios('batch', 'constant', 'processorUs').map((ratio) => ratio / batchSize),
    bar: bars[kind].batch,
  });
}
