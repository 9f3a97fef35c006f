/**
 * The worker's side: one of several processes that share the port. It does what its supervisor says, and nothing without
 * one: node:cluster ends it in the moment in which the supervisor's end of the channel closes.
 */
import { once } from 'node:events';
import type { Clock } from '../../foundation/clock.ts';
import type { Config } from '../config.ts';
import { createLog, type Log } from '../../foundation/log.ts';
import { startWorkerService } from '../service.ts';
import type { ToSupervisor, ToWorker } from './messages.ts';

/** @returns the exit status, once it has stopped */
export async function runWorker(config: Config, clock: Clock): Promise<number> {
  // Ctrl-C reaches every process of a terminal, and some managers signal them all: the supervisor's word alone counts.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  const [start] = (await once(process, 'message')) as [Extract<ToWorker, { kind: 'start' }>];
  const log = createLog(config.logLevel).child({ worker: start.worker });
  const service = await startWorkerService({ config: { ...config, port: start.port }, clock, log }, start);
  const { unanswered } = service.services.tokens;
  unanswered.onRecord = (refresh) => tell({ kind: 'unanswered_refresh', ...refresh });
  void service.replaced?.then(({ path }) => tell({ kind: 'database_replaced', path }));
  return new Promise((resolve) => {
    process.on('message', (message: ToWorker) => {
      if (message.kind === 'stop') void service.stop().then((isDrained) => resolve(isDrained ? 0 : 1));
      if (message.kind === 'unanswered_refresh') unanswered.add(message);
      if (message.kind === 'metrics') void tellMetrics(service.metrics, message.id, log);
    });
    // A mistake in the program: nothing it does from here on can be trusted (ASVS 16.5.4).
    process.on('uncaughtException', (error) => {
      log.fatal({ event: 'crashed', err: error });
      resolve(1);
    });
    tell({ kind: 'listening', url: service.url, publicUrl: service.publicUrl });
  });
}

async function tellMetrics(
  metrics: Awaited<ReturnType<typeof startWorkerService>>['metrics'],
  id: number,
  log: Log,
): Promise<void> {
  try {
    tell({ kind: 'metrics', id, snapshot: await (await metrics()).snapshot() });
  } catch (error) {
    log.warn({ event: 'metrics_failed', err: error });
  }
}

/** A supervisor that is gone is no error: this process ends with it. */
function tell(message: ToSupervisor): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
