/** Measures one program under load: rate and latency by the load generator, processor time by the system. */
import type { LoadOptions } from './load.ts';
import { treeProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { load, type Running } from './processes.ts';
import type { RequestTemplate } from './request.ts';
import type { Contender, Measured } from './rounds.ts';

export type Load = Omit<LoadOptions, 'port'>;

/**
 * @param cores of the load generator. Default: the core that the measured program does not use
 * @param processorMs reads the processor time of a process
 */
export async function measure(
  running: Running,
  options: Load,
  cores?: string,
  processorMs = treeProcessorMs,
): Promise<Measured> {
  const pid = running.process.pid ?? 0;
  const beforeMs = processorMs(pid);
  const result = await load({ ...options, port: running.port }, cores);
  const usedMs = processorMs(pid) - beforeMs;
  return {
    ...result,
    processorUs: (usedMs * 1000) / result.requests,
    programShare: usedMs / 1000 / result.seconds,
  };
}

export const contender = (name: string, running: Running, options: Load, cores?: string): Contender => ({
  name,
  run: () => measure(running, options, cores),
});

/** The same request for the server with a constant, empty response. */
export const constantRequest = ({ text, pool }: RequestTemplate): RequestTemplate => ({
  text,
  ...(pool ? { pool } : {}),
});
