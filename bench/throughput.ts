/** Processor time of verifications, compared with a constant response to the same request. */
import { batchRequest, forwardRequest, verifyRequest } from './keyreeve.ts';
import { constantRequest, contender } from './measure.ts';
import type { Running } from './processes.ts';
import type { Bar, Report } from './report.ts';
import type { RequestTemplate } from './request.ts';
import { alternate, ms, type Rounds } from './rounds.ts';
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
  // The first round is a warm-up.
  await alternate(contenders, 1);
  const found = await alternate(contenders, rounds);
  report.add(
    `processor time of \`GET /auth/forward\` / constant, ${connections} connections`,
    found.ratio('forward', 'constant to forward', 'processorUs'),
    bars.forward,
    beside(found, 'forward', 'constant to forward'),
  );
  report.add(
    `the same without the short path, ${connections} connections`,
    found.ratio('through node:http', 'constant to forward', 'processorUs'),
    bars.nodeHttp,
    beside(found, 'through node:http', 'constant to forward'),
  );
  report.add(
    `processor time of a constant / \`POST /auth/verify\`, ${connections} connections`,
    found.ratio('constant to verify', 'verify', 'processorUs'),
    bars.verify,
    beside(found, 'constant to verify', 'verify'),
  );
  report.add(
    `processor time per credential of a batch of ${batchSize} / constant, ${connections} connections`,
    found.ratio('batch', 'constant to forward', 'processorUs') / batchSize,
    bars.batch,
    `${us(found.median('batch', 'processorUs') / batchSize)} µs, ${found.rate('batch')} batches/s`,
  );
}

/** @returns the processor times and rates of two contenders */
export const beside = (found: Rounds, one: string, other: string): string =>
  `${us(found.median(one, 'processorUs'))} against ${us(found.median(other, 'processorUs'))} µs, ` +
  `${found.rate(one)} against ${found.rate(other)} requests/s`;

/** @returns the 99th percentiles of two contenders */
export const p99s = (found: Rounds, one: string, other: string): string =>
  `${ms(found.median(one, 'msP99'))} against ${ms(found.median(other, 'msP99'))} ms`;

const us = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
