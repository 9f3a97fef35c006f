/** Requests with the credential of a revocation check that succeed, one for each route of canary keys. */
import { systemClock } from '../../foundation/clock.ts';
import type { AccountClient } from '../../../test-kit/account-client.ts';
import { createCanary, issueCredential } from '../../../test-kit/canary-credentials.ts';
import type { Answered } from '../../../test-kit/new-app.ts';

type Send = (stage: { readonly client: AccountClient }) => Promise<Answered>;

const withCredential =
  (method: string, needsKey = false): Send =>
  async ({ client: { app } }) => {
    // The clock of PostgreSQL counts for an expiry, too.
    const seconds = Math.ceil((systemClock.now() - app.clock.now()) / 1000);
    if (seconds > 0) app.clock.advance({ seconds });
    const credential = await issueCredential(app);
    const path = needsKey ? `/auth/canary-keys/${(await createCanary(app, credential)).id}` : '/auth/canary-keys';
    return app.call(method, path, { headers: credential.headers });
  };

export const canaryRequests: Readonly<Record<string, Send>> = {
  createCanaryKey: withCredential('POST'),
  listCanaryKeys: withCredential('GET'),
  deleteCanaryKey: withCredential('DELETE', true),
};
