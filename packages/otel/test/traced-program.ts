/** A service with `--import @keyreeve/otel`. */
import { newProgram, type Environment, type Program } from '../../server/test/e2e/program.ts';
import type { Collector } from './collector.ts';

export const loaded = { NODE_OPTIONS: `--import ${import.meta.resolve('../src/register.ts')}` };
export const trusting = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
export const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
export const parentId = '00f067aa0ba902b7';
export const sampled = { traceparent: `00-${traceId}-${parentId}-01` };

export const start = (collector: Collector, environment: Environment = {}): Promise<Program> =>
  newProgram({ ...loaded, ...collector.environment, ...environment });
