/** The routes of the verification listener. With `ANY /auth/forward`, which `app.ts` answers, they are all of them. */
import type { RequestLog } from '../../http/request-log.ts';
import type { Route } from '../../http/route.ts';
import { verificationRoutes } from '../../modules/verification/routes.ts';
import type { Verifier } from '../../modules/verification/verify.ts';
import { healthRoutes, type Health } from './health.ts';

interface VerifierRoutes {
  readonly health: Health;
  readonly verifier: Verifier;
  readonly requestLog: RequestLog;
}

export const verifierRoutesOf = ({ health, verifier, requestLog }: VerifierRoutes): readonly Route[] => [
  ...healthRoutes(health),
  ...verificationRoutes(verifier, (error) => requestLog.failed('verification_failed', error)),
];
