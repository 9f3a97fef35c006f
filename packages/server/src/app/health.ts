/** Health: whether the process runs, and whether it can answer. */
import { live, ready } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { route, type Route } from '../http/route.ts';

export interface Health {
  /** From the moment the instance is told to stop. */
  isStopping: boolean;
  /** From the moment its port is closed: who has a connection should open the next one elsewhere. */
  isClosed: boolean;
  /** Asks the database. @throws DomainError `unavailable` */
  readonly check: () => Promise<void>;
  /** Whether changes can be committed. Verifications don't depend on it. */
  readonly canWrite: () => boolean | Promise<boolean>;
}

export function healthRoutes(health: Health): readonly Route[] {
  return [
    route(live, async () => ({ status: 200, body: { status: 'ok' } })),
    route(ready, async () => {
      if (health.isStopping)
        throw new DomainError('unavailable', { detail: 'The instance is stopping.', retryAfterSeconds: 1 });
      await health.check();
      return { status: 200, body: { status: 'ok', writes: await health.canWrite() } };
    }),
  ];
}
