/** Codes that several routes share: what is added to one of these groups is declared wherever it can happen. */
import type { ErrorCode } from './errors.ts';

/** Of a route that an access token opens. */
export const accessTokenErrors = [
  'missing_access_token',
  'invalid_access_token',
  'ambiguous_credentials',
] as const satisfies readonly ErrorCode[];

/** Of a route that an administrator's opens. */
export const administratorErrors = [
  ...accessTokenErrors,
  'administrator_required',
] as const satisfies readonly ErrorCode[];

/** Where the account's password is asked for beside an access token. */
export const currentPasswordErrors = [
  'password_wrong',
  'too_many_attempts',
  'overloaded',
] as const satisfies readonly ErrorCode[];

/** Where a password is chosen. */
export const newPasswordErrors = [
  'password_too_short',
  'password_too_long',
  'password_invalid',
  'password_context',
  'password_common',
] as const satisfies readonly ErrorCode[];
