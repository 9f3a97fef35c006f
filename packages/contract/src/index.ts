/** Keyreeve's HTTP contract as data. */
export * from './accounts.ts';
export type { AccountDetail, AccountPage, AdministeredAccount, AuditPage } from './admin-schemas.ts';
export * from './admin.ts';
export * from './api-keys.ts';
export * from './credentials.ts';
export * from './errors.ts';
export * from './health.ts';
export * from './limits.ts';
export * from './openapi.ts';
export * from './route.ts';
export * from './routes.ts';
export * from './schemas.ts';
export * from './second-factor.ts';
export * from './sessions.ts';
export * from './tokens.ts';
export * from './verification.ts';
export * from './webhooks.ts';
