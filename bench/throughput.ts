/** Processor time of verifications, compared with a constant response to the same request. */
import { batchRequest, forwardRequest, verifyRequest } from './keyreeve.ts';
import { constantRequest, contender } from './measure.ts';
import type { Running } from './processes.ts';
import { us, type Bar, type Report } from './report.ts';
import type { RequestTemplate } from './request.ts';
import { alternate } from './rounds.ts';
import type { Seeded } from './seed.ts';

export interface ThroughputOptions {
  readonly server: Running;
  readonly limit: Running;
  readonly seeded: Seeded;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly bars: { readonly forward: Bar; readonly nodeHttp: Bar; readonly verify: Bar; readonly batch: Bar };
}

const batchSize = 100;

/** The short path of the server does not answer a request with a second space before a value. */
const throughNodeHttp = (request: RequestTemplate): RequestTemplate => ({
  ...request,
  text: request.text.replace('Host: ', 'Host:  '),
});

export async function throughput(report: Report, options: ThroughputOptions): Promise<void> {
  const { server, limit, seeded, connections, rounds, seconds, bars } = options;
  const { keys, serviceKey } = seeded;
  const named = (name: string, running: Running, request: RequestTemplate) =>
    contender(name, running, { connections, seconds, request });
  const forward = forwardRequest(keys);
  const verify = verifyRequest(keys, serviceKey);
  const contenders = [
    named('forward', server, forward),
    named('through node:http', server, throughNodeHttp(forward)),
    named('constant to forward', limit, constantRequest(forward)),
    named('verify', server, verify),
    named('constant to verify', limit, constantRequest(verify)),
    named('batch', server, batchRequest(keys, serviceKey, batchSize)),
  ];
  const found = await alternate(contenders, rounds, 1);
  report.ratio(
    `processor time of \`GET /auth/forward\` / constant, ${connections} connections`,
    found,
    ['forward', 'constant to forward', 'processorUs'],
    bars.forward,
  );
  report.ratio(
    `the same without the short path, ${connections} connections`,
    found,
    ['through node:http', 'constant to forward', 'processorUs'],
    bars.nodeHttp,
  );
  report.ratio(
    `processor time of a constant / \`POST /auth/verify\`, ${connections} connections`,
    found,
    ['constant to verify', 'verify', 'processorUs'],
    bars.verify,
  );
  report.add(
    `processor time per credential of a batch of ${batchSize} / constant, ${connections} connections`,
    found.ratio('batch', 'constant to forward', 'processorUs') / batchSize,
    bars.batch,
    `${us(found.median('batch', 'processorUs') / batchSize)} µs, ${found.rate('batch')} batches/s`,
  );
}
