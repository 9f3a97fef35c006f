/** What commands do, on the database of this machine or on a remote service. Each file has both forms of one subject. */
import { openTarget } from '../remote/target.ts';
import { withInstallation } from '../session.ts';
import { localAccounts, remoteAccounts, type AccountOperations } from './accounts.ts';
import { localAudit, remoteAudit, type AuditOperations } from './audit.ts';
import { localIssuers, remoteIssuers, type IssuerOperations } from './issuers.ts';
import { localKeys, type KeyOperations } from './keys.ts';
import { remoteKeys } from './remote-keys.ts';
import { localOverview, remoteOverview, type OverviewOperations } from './overview.ts';
import { localScopes, remoteScopes, type ScopeOperations } from './scopes.ts';
import { localServiceAccounts, remoteServiceAccounts, type ServiceAccountOperations } from './service-accounts.ts';
import { localSessions, remoteSessions, type SessionOperations } from './sessions.ts';
import { localSigningKeys, remoteSigningKeys, type SigningKeyOperations } from './signing-keys.ts';
import { localWebhooks, remoteWebhooks, type WebhookOperations } from './webhooks.ts';

export interface Operations {
  readonly accounts: AccountOperations;
  readonly audit: AuditOperations;
  readonly issuers: IssuerOperations;
  readonly keys: KeyOperations;
  readonly overview: OverviewOperations;
  readonly scopes: ScopeOperations;
  readonly serviceAccounts: ServiceAccountOperations;
  readonly sessions: SessionOperations;
  readonly signingKeys: SigningKeyOperations;
  readonly webhooks: WebhookOperations;
}

/** On the service of `--url`, otherwise on the database. */
export async function withOperations<T>(run: (operations: Operations) => Promise<T>): Promise<T> {
  const service = await openTarget();
  if (!service)
    return withInstallation({}, (context) =>
      run({
        accounts: localAccounts(context),
        audit: localAudit(context),
        issuers: localIssuers(context),
        keys: localKeys(context),
        overview: localOverview(context),
        scopes: localScopes(context),
        serviceAccounts: localServiceAccounts(context),
        sessions: localSessions(context),
        signingKeys: localSigningKeys(context),
        webhooks: localWebhooks(context),
      }),
    );
  const accounts = remoteAccounts(service);
  return run({
    accounts,
    audit: remoteAudit(service),
    issuers: remoteIssuers(service),
    keys: remoteKeys(service, accounts),
    overview: remoteOverview(service),
    scopes: remoteScopes(service),
    serviceAccounts: remoteServiceAccounts(service, accounts),
    sessions: remoteSessions(service),
    signingKeys: remoteSigningKeys(service),
    webhooks: remoteWebhooks(service),
  });
}
