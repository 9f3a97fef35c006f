/** Health endpoints: whether the process runs, and whether it can serve requests. */
import { live, ready } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';

export interface Health {
  /** True from the signal that stops the instance. */
  isStopping: boolean;
  /** True from the time the port is closed. Responses then close their connections. */
  isClosed: boolean;
  /** Queries the database. @throws DomainError `unavailable` */
  readonly check: () => Promise<void>;
  /** Whether changes can be committed. Verifications do not depend on it. */
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
