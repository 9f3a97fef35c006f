/** Stops a service in order: drain → background work → pending data → database. `service.ts` calls it. */
import type { Server } from 'node:http';
import { announcePhase } from '../../foundation/tracing.ts';
import type { RequestLog } from '../../http/request-log.ts';
import { drain } from './drain.ts';
import type { Health } from './health.ts';
import type { Housekeeping } from './housekeeping.ts';
import type { Installation } from '../installation/installation.ts';
import type { Services } from '../wiring/wire.ts';
import type { VerifierPool } from './verifier-pool.ts';

interface Parts {
  readonly health: Health;
  readonly housekeeping: Housekeeping;
  readonly installation: Installation;
  readonly requestLog: RequestLog;
  readonly services: Services;
  /** Undefined without processes that only verify. */
  readonly verifiers: VerifierPool | undefined;
}

/** @returns whether all requests ended in time */
export async function stopService(
  servers: readonly Server[],
  drainSeconds: number,
  { health, housekeeping, installation, requestLog, services, verifiers }: Parts,
): Promise<boolean> {
  health.isStopping = true;
  const drained = await Promise.all([
    drain(servers, drainSeconds, { onClosed: () => (health.isClosed = true) }),
    // Before the record of this instance is deleted: a rotation of keys would count it as gone.
    verifiers?.stop(drainSeconds) ?? true,
  ]);
  await services.webhooks.publisher.stop();
  await services.outbox.stop();
  await services.webhooks.log.flush();
  await housekeeping.stop();
  requestLog.flush();
  services.journal?.stop();
  await services.hasher.close();
  await installation.db.close();
  await announcePhase('stop');
  return drained.every(Boolean);
}
