/** Errors of service accounts and their managers. Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';
import { limits } from './limits.ts';

export const serviceAccountErrors = {
  manager_not_found: {
    status: 404,
    title: 'Not a manager',
    meaning: 'The account is not a manager of this service account.',
  },
  service_account: {
    status: 409,
    title: 'The account is a service account',
    meaning:
      'A service account has no password, email address, second factor, session or role. Its creator changes its name, its managers change its keys, and an operator uses `keyreeve service-account`.',
  },
  account_limited: {
    status: 403,
    title: 'An account with limits cannot create service accounts',
    meaning:
      'Its service accounts would not share the limits. An operator or an administrator creates them, or a backend with a management key.',
  },
  creator_required: {
    status: 403,
    title: 'Only the creator can change the service account',
    meaning:
      'Names and external ids are unique among the service accounts of one creator, so only its account changes them, with an access token or a management key. After the deletion of that account, every manager can.',
  },
  name_taken: {
    status: 409,
    title: 'A service account of the same creator has this name',
    meaning: 'The names of the service accounts that one account created are unique. Choose another.',
  },
  external_id_taken: {
    status: 409,
    title: 'A service account of the same creator has this external id',
    meaning:
      'The external ids of the service accounts that one account created are unique. GET /auth/service-accounts?externalId=… finds the existing one.',
  },
  service_account_limit_reached: {
    status: 409,
    title: 'The account has created the maximum number of service accounts',
    meaning: `A person creates at most ${limits.serviceAccountsPerPersonMax}, a backend with a management key at most ${limits.serviceAccountsPerBackendMax}. Delete one that is no longer used.`,
  },
  manager_limit_reached: {
    status: 409,
    title: 'The service account has the maximum number of managers',
    meaning: `It has at most ${limits.managersPerServiceAccountMax}. Remove one first.`,
  },
  manager_not_eligible: {
    status: 409,
    title: 'The account cannot be a manager',
    meaning:
      'A manager is another account that exists, is enabled and has verified its email address, or another service account that is enabled.',
  },
  last_manager: {
    status: 409,
    title: 'The service account needs a manager',
    meaning: 'The last manager cannot be removed. Add another manager first, or delete the service account.',
  },
} as const satisfies Record<string, ErrorDefinition>;
