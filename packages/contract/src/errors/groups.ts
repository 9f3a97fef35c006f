/** Error codes that several routes share. A code that is added to a group is declared for all of its routes. */
import type { ErrorCode } from '../errors.ts';

/** Of routes that require an access token. */
export const accessTokenErrors = [
  'missing_access_token',
  'invalid_access_token',
  'ambiguous_credentials',
] as const satisfies readonly ErrorCode[];

/** Of routes that require a management key. */
export const managementKeyErrors = [
  'invalid_management_key',
  'ambiguous_credentials',
  'insufficient_scope',
] as const satisfies readonly ErrorCode[];

/** Of routes that require an access token or a management key. */
export const managerErrors = [
  'missing_credential',
  'invalid_access_token',
  ...managementKeyErrors,
] as const satisfies readonly ErrorCode[];

/** Of routes that require the secret of a portal session. */
export const portalSessionErrors = [
  'portal_session_ended',
  'ambiguous_credentials',
] as const satisfies readonly ErrorCode[];

/** Of routes that require the account's password in addition to an access token. */
export const currentPasswordErrors = [
  'password_wrong',
  'too_many_attempts',
  'overloaded',
] as const satisfies readonly ErrorCode[];

/** Of routes that set a password. */
export const newPasswordErrors = [
  'password_too_short',
  'password_too_long',
  'password_invalid',
  'password_context',
  'password_common',
] as const satisfies readonly ErrorCode[];
