/**
 * All routes of the service, grouped by caller. With `ANY /auth/forward`, which `verification-listener.ts` answers, they are
 * everything that a client can reach.
 */
import { deviceCodeGrant } from '@keyreeve/contract';
import { auditRoutes } from '../modules/administration/audit-routes.ts';
import { mailLogRoutes } from '../modules/mail-log/routes.ts';
import { mailRoutes } from '../modules/administration/mail-routes.ts';
import {
  adminRoutes,
  firstAdministratorRoutes,
  managementKeyRoutes,
  serviceAccountSettingRoutes,
} from '../modules/administration/routes.ts';
import { canaryKeyRoutes } from '../modules/canary-keys/routes.ts';
import { guideRoutes } from '../modules/documentation/guide-routes.ts';
import { contractRoutes } from '../modules/documentation/routes.ts';
import { apiKeyRoutes, serviceAccountKeyRoutes, type RecentUsageOf } from '../modules/api-keys/routes.ts';
import { portalKeyRoutes } from '../modules/api-keys/portal-routes.ts';
import { approvalRoutes, deviceGrant, deviceRoutes, keyRemovalRoutes } from '../modules/approvals/routes.ts';
import { consolePageRoutes } from '../modules/console/page-routes.ts';
import type { ConsoleHost } from '../modules/console/paths.ts';
import { mirrorOf } from '../modules/console/mirror.ts';
import { consoleRoutes } from '../modules/console/routes.ts';
import { keyUsageRoutes, portalKeyUsageRoutes } from '../modules/key-usage/routes.ts';
import { githubLeakRoutes } from '../modules/leaks/github-routes.ts';
import { leakRoutes } from '../modules/leaks/routes.ts';
import type { LinkPageOptions } from '../modules/link-pages/link-pages.ts';
import type { Look } from '../modules/look/look.ts';
import { markRoutes } from '../modules/look/routes.ts';
import { portalPageRoutes } from '../modules/portal/page-routes.ts';
import { portalPageSessionRoutes, portalSessionRoutes } from '../modules/portal/routes.ts';
import { programAdminRoutes } from '../modules/programs/routes.ts';
import { issuerAdminRoutes, issuerRoutes } from '../modules/issuers/routes.ts';
import { scopeAdminRoutes, scopeRoutes } from '../modules/scope-catalogue/routes.ts';
import { passkeyRoutes, passkeySignInRoutes } from '../modules/passkeys/routes.ts';
import { enrolmentRoutes } from '../modules/second-factors/routes.ts';
import { managerAdminRoutes, serviceAccountRoutes } from '../modules/service-accounts/routes.ts';
import { exportRoutes } from '../modules/self-service/export-routes.ts';
import { accountRoutes } from '../modules/self-service/routes.ts';
import { signingKeyRoutes } from '../modules/signing-keys/routes.ts';
import { discoveryRoutes, sessionRoutes, tokenRoutes } from '../modules/tokens/routes.ts';
import { keyTokenRoutes } from '../modules/short-lived-secrets/key-token-routes.ts';
import { exchangeRoutes } from '../modules/short-lived-secrets/routes.ts';
import type { LinkedIdentities } from '../modules/single-sign-on/linked-identities.ts';
import { singleSignOnRoutes } from '../modules/single-sign-on/routes.ts';
import { verificationRoutes } from '../modules/verification/routes.ts';
import { overviewRoutes } from '../modules/overview/routes.ts';
import { webhookRoutes } from '../modules/webhooks/routes.ts';
import type { BasePath } from '../http/base-path.ts';
import type { BuiltFiles } from '../http/built-files.ts';
import type { Log } from '../foundation/log.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Route } from '../http/route.ts';
import { Streams } from '../http/stream.ts';
import { healthRoutes, type Health } from './processes/health.ts';
import { settingsRoutes, type SettingsView } from './configuration/settings-view.ts';
import type { Services } from './wiring/wire.ts';

export interface RouteOptions extends Services {
  /** Whether credentials are verified: an operator can leave that to the verification listener. */
  readonly isVerifying: boolean;
  readonly linkedIdentities: LinkedIdentities;
  readonly settingsView: SettingsView;
  readonly health: Health;
  readonly log: Log;
  readonly requestLog: RequestLog;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly basePath: BasePath;
  readonly look: Look;
  readonly linkPages: LinkPageOptions;
  readonly consoleFiles: BuiltFiles;
  readonly portalFiles: BuiltFiles;
  /** Undefined if the documentation is off. */
  readonly guideFiles: BuiltFiles | undefined;
  readonly consoleHost: ConsoleHost;
}

export function routesOf(options: RouteOptions): readonly Route[] {
  const routes = ownRoutesOf(options);
  if (!options.console) return routes;
  return [
    ...routes,
    // A person with the session cookie of the console
    ...consoleRoutes(options.console),
    ...mirrorOf(routes),
    // A browser that returns from the OpenID provider, and the provider, which signs its requests
    ...(options.singleSignOn ? singleSignOnRoutes(options.singleSignOn.routes) : []),
  ];
}

/** All routes except those of the console. */
function ownRoutesOf(options: RouteOptions): readonly Route[] {
  const { selfService, tokenPairs, apiKeys, enrolment, verifier, signingKeys, webhooks, health, publicUrl } = options;
  const newStreams = (): Streams =>
    new Streams({
      isClosing: () => health.isClosed,
      onIncomplete: (name, owner, err) =>
        options.log.warn({ event: 'export_incomplete', export: name, accountId: owner, err }),
    });
  const recentUsage: RecentUsageOf = (ids) => options.keyUsage.recentOfKeys(ids);
  return [
    // Any client
    ...healthRoutes(health),
    ...discoveryRoutes(signingKeys, publicUrl, {
      docs: options.guideFiles !== undefined,
      console: options.consoleHost.isOn,
    }),
    ...contractRoutes({
      ...options,
      hasConsole: (host) => options.consoleHost.isConsole(host),
      hasDocs: options.guideFiles !== undefined,
    }),
    ...(options.guideFiles ? guideRoutes(options.guideFiles) : []),
    ...consolePageRoutes(options.consoleFiles),
    ...portalPageRoutes(options.portal.sessions, options.portalFiles),
    ...markRoutes(options.look.mark),
    // GitHub, which signs its requests
    ...githubLeakRoutes(options.githubReports),
    // Any client that has a leaked secret of an API key
    ...(options.leakReports ? leakRoutes(options.leakReports) : []),
    // A client with a password, a refresh token or the code for the first administrator
    ...tokenRoutes(tokenPairs),
    ...passkeySignInRoutes(options.passkeySignIns),
    ...firstAdministratorRoutes(options.firstAdministrator),
    // A client with an assertion, which it signed with the private key of an API key, with an identity token, with the id and the
    // secret of an API key, or with a device code
    ...exchangeRoutes(options, { [deviceCodeGrant]: deviceGrant(options.deviceRequests) }),
    // A program on a device, which has no credential
    ...deviceRoutes(options.deviceRequests, options.keyRevocations),
    // Any client, a client with a one-time code from a mail, or an account with its access token
    ...accountRoutes(selfService, options.linkPages),
    // An account with its access token
    ...apiKeyRoutes(apiKeys, options.keyChanges, recentUsage),
    ...approvalRoutes(options.approvals),
    ...keyRemovalRoutes(options.deviceMail),
    ...scopeRoutes(options.scopeCatalogue),
    ...sessionRoutes(tokenPairs),
    ...exportRoutes(selfService.exporter, options, newStreams()),
    ...enrolmentRoutes(enrolment),
    ...passkeyRoutes(options.passkeys),
    // A person with an access token, or a backend with a management key
    ...serviceAccountRoutes(options.serviceAccounts, options.managers),
    // An account with its access token, or a management key, for the service accounts that it manages
    ...serviceAccountKeyRoutes(options.managedAccount, apiKeys, options.keyChanges, recentUsage),
    ...keyUsageRoutes(options.keyUsage, options.managedAccount),
    ...issuerRoutes(options.issuers),
    ...keyTokenRoutes(options.keyTokens, options.managedAccount),
    // A management key
    ...portalSessionRoutes(options.portal),
    ...serviceAccountSettingRoutes(options, options.managedAccount),
    // The key page, with the token or the secret of a portal session
    ...portalPageSessionRoutes(options.portal),
    ...portalKeyRoutes(options.portalAccount, apiKeys, options.keyChanges, recentUsage),
    ...portalKeyUsageRoutes(options.keyUsage, options.portalAccount),
    // An administrator with an access token
    ...adminRoutes(options),
    ...(options.managementKeys ? managementKeyRoutes(options.managementKeys) : []),
    // Separate from the exports of accounts: accounts that do not read theirs do not prevent those of administrators.
    ...auditRoutes(options.directory.auditLog, newStreams()),
    ...signingKeyRoutes(signingKeys),
    ...settingsRoutes(options.settingsView),
    ...mailLogRoutes(options.mailLog),
    ...mailRoutes(options),
    ...overviewRoutes(options.overview),
    ...managerAdminRoutes(options.managers),
    ...scopeAdminRoutes(options.scopeCatalogue),
    ...programAdminRoutes(options.programs),
    ...issuerAdminRoutes(options.issuers),
    ...webhookRoutes(webhooks),
    // A revocation check from outside, with an API key that has the scope keyreeve:canary
    ...canaryKeyRoutes(options.canaryKeys, options.canaryInstance),
    // A service with an API key that has the scope keyreeve:verify, or a revocation check for its canary keys
    ...(options.isVerifying
      ? verificationRoutes(verifier, (error) => options.requestLog.failed('verification_failed', error))
      : []),
  ];
}
