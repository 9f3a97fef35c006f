/** Keyreeve's HTTP contract as data. */
export * from './account-activity.ts';
export * from './account-export.ts';
export * from './accounts.ts';
export * from './link-pages.ts';
export type { AccountDetail, AccountPage, AdministeredAccount, AuditPage } from './admin-schemas.ts';
export * from './admin-audit.ts';
export * from './admin-key-creation.ts';
export { adminFindKey, adminSearchKeys, type FoundKey, type OwnedKeyPage } from './admin-key-list.ts';
export * from './admin-keys.ts';
export {
  adminListMail,
  adminReadOutbox,
  adminTestMail,
  mailPurposes,
  type LoggedMail,
  type MailPage,
  type MailPurpose,
  type MailTestResult,
  type OutboxPage,
} from './admin-mail.ts';
export { adminReadSettings, type SettingsInForce } from './admin-settings.ts';
export { adminGetOverview, type Overview } from './admin-overview.ts';
export * from './admin-signing-keys.ts';
export * from './admin.ts';
export * from './api-key-changes.ts';
export * from './api-key-list.ts';
export * from './api-keys.ts';
export { ApplyFile } from './apply-file.ts';
export * from './approvals.ts';
export * from './authentication.ts';
export * from './canary-keys.ts';
export * from './console.ts';
export * from './credentials.ts';
export * from './device-authorization.ts';
export * from './errors.ts';
export * from './examples.ts';
export type { FieldCode } from './field-codes.ts';
export * from './github-leaks.ts';
export * from './health.ts';
export * from './issuer-presets.ts';
export * from './issuers.ts';
export * from './key-tokens.ts';
export * from './key-usage.ts';
export * from './leaks.ts';
export * from './key-limits.ts';
export * from './jwk.ts';
export * from './language.ts';
export type { Limit } from './limit-definition.ts';
export * from './limits.ts';
export { openApiDocument, contractVersion } from './openapi.ts';
export type { ListTotal } from './paging.ts';
export { errorsOf } from './problem-responses.ts';
export * from './passkey-messages.ts';
export * from './passkeys.ts';
export * from './portal-capabilities.ts';
export * from './portal-keys.ts';
export * from './portal-sessions.ts';
export * from './program-id.ts';
export * from './programs.ts';
export * from './public-key-registration.ts';
export * from './refusals.ts';
export * from './route.ts';
export * from './routes.ts';
export * from './schemas.ts';
export * from './scopes.ts';
export * from './second-factor.ts';
export * from './service-accounts.ts';
export * from './service-account-keys.ts';
export * from './sessions.ts';
export * from './single-sign-on.ts';
export * from './token-exchange.ts';
export * from './trust.ts';
export * from './tokens.ts';
export * from './verification.ts';
export * from './webhook-deliveries.ts';
export * from './webhook-events.ts';
export * from './webhooks.ts';
