/**
 * A worker: one of several processes that share the port. It follows the messages of its supervisor. When the supervisor
 * exits, node:cluster ends the worker.
 */
import { once } from 'node:events';
import type { Clock } from '../../foundation/clock.ts';
import type { Config } from '../configuration/config.ts';
import { RemoteCommits } from '../../foundation/database/remote-commits.ts';
import { createLog, type Log } from '../../foundation/log.ts';
import { startWorkerService } from '../service.ts';
import type { ToSupervisor, ToWorker } from './messages.ts';

/** @returns the exit status, when the worker has stopped */
export async function runWorker(config: Config, clock: Clock): Promise<number> {
  // Ctrl-C reaches every process of the terminal, and some service managers signal all processes. Workers ignore signals and
  // wait for the message of the supervisor.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  const [start] = (await once(process, 'message')) as [Extract<ToWorker, { kind: 'start' }>];
  const log: Log = createLog(config.logLevel).child({ worker: start.worker });
  const writer = start.database && remoteWriter();
  const options = { config: { ...config, port: start.port }, clock, log };
  const service = await startWorkerService(options, { ...start, writer });
  const { unanswered } = service.services.tokens;
  unanswered.onRecord = (refresh) => send({ kind: 'unanswered_refresh', ...refresh });
  void service.replaced?.then(({ path }) => send({ kind: 'database_replaced', path }));
  void service.rootKeyChanged.then(() => send({ kind: 'root_key_changed' }));
  return new Promise((resolve) => {
    process.on('message', (message: ToWorker) => {
      if (message.kind === 'stop') void service.stop().then((isDrained) => resolve(isDrained ? 0 : 1));
      if (message.kind === 'unanswered_refresh') unanswered.add(message);
      if (message.kind === 'metrics') void sendMetrics(service.metrics, message.id, log);
    });
    // After an unexpected exception, the state of the process is unknown (ASVS 16.5.4).
    process.on('uncaughtException', (error) => {
      log.fatal({ event: 'crashed', err: error });
      resolve(1);
    });
    send({ kind: 'listening', url: service.url, publicUrl: service.publicUrl });
  });
}

/** The supervisor writes to SQLite for its workers. */
function remoteWriter(): RemoteCommits {
  const remote = new RemoteCommits((parts) => send({ kind: 'writes', parts }));
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'writes') remote.receive(message.responses);
  });
  process.on('disconnect', () => remote.fail(new Error('the supervisor has exited')));
  return remote;
}

async function sendMetrics(
  metrics: Awaited<ReturnType<typeof startWorkerService>>['metrics'],
  id: number,
  log: Log,
): Promise<void> {
  try {
    send({ kind: 'metrics', id, snapshot: await (await metrics()).snapshot() });
  } catch (error) {
    log.warn({ event: 'metrics_failed', err: error });
  }
}

/** Ignores errors: if the supervisor has exited, this process ends too. */
function send(message: ToSupervisor): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
