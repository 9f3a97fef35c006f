/** Errors of service accounts and their managers. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { limits } from '../limits.ts';

export const serviceAccountErrors = {
  manager_not_found: {
    status: 404,
    title: 'Not a manager',
    meaning: 'The account is not a manager of this service account.',
    cause: 'The account of the path is not, or no longer, a manager of the service account.',
    fix: 'List the managers with `GET /auth/service-accounts/{id}/managers`.',
  },
  service_account: {
    status: 409,
    title: 'The account is a service account',
    meaning:
      'A service account has no password, email address, second factor, session or role. Its creator changes its name, its managers change its keys, and an operator uses `keyreeve service-account`.',
    cause:
      'The operation concerns a password, an email address, a second factor, sessions or the role, and the account is a service account.',
    fix: 'Change its name, keys and managers with the routes of service accounts, or with `keyreeve service-account`. To stop all its keys, disable or delete the account.',
  },
  account_limited: {
    status: 403,
    title: 'An account with limits cannot create service accounts',
    meaning:
      'Its service accounts would not share the limits. An operator or an administrator creates them, or a backend with a management key.',
    cause: 'An administrator or an operator has set limits of the account.',
    fix: 'Ask an operator or an administrator to create the service account, or to remove the limits of the account.',
  },
  creator_required: {
    status: 403,
    title: 'Only the creator can change the service account',
    meaning:
      'Names and external ids are unique among the service accounts of one creator, so only its account changes them, with an access token or a management key. After the deletion of that account, every manager can.',
    cause:
      'The caller manages the service account, but another account has created it: `creatorId` in the response of `GET`.',
    fix: 'Ask the creator or an operator to change the name or the external id. Every manager can change the keys.',
  },
  name_taken: {
    status: 409,
    title: 'A service account of the same creator has this name',
    meaning: 'The names of the service accounts that one account created are unique. Choose another.',
    cause: 'Another service account of the same creator has the name.',
    fix: 'Choose another name, or use the existing service account: `GET /auth/service-accounts`.',
  },
  external_id_taken: {
    status: 409,
    title: 'A service account of the same creator has this external id',
    meaning:
      'The external ids of the service accounts that one account created are unique. GET /auth/service-accounts?externalId=… finds the existing one.',
    cause: 'Another service account of the same creator has the external id, perhaps from an earlier attempt.',
    fix: 'Find it with `GET /auth/service-accounts?externalId=…` and use it.',
  },
  service_account_limit_reached: {
    status: 409,
    title: 'The account has created the maximum number of service accounts',
    meaning: `A person creates at most ${limits.serviceAccountsPerPersonMax}, a backend with a management key at most ${limits.serviceAccountsPerBackendMax}. Delete one that is no longer used.`,
    cause: 'The account has created as many service accounts as one account can have.',
    fix: 'Delete service accounts that are not used any more. For one service account for each tenant, create them with a management key.',
  },
  manager_limit_reached: {
    status: 409,
    title: 'The service account has the maximum number of managers',
    meaning: `It has at most ${limits.managersPerServiceAccountMax}. Remove one first.`,
    cause: 'The service account has as many managers as it can have.',
    fix: 'Remove a manager first.',
  },
  manager_not_eligible: {
    status: 409,
    title: 'The account cannot be a manager',
    meaning:
      'A manager is another account that exists, is enabled and has verified its email address, or another service account that is enabled.',
    cause:
      'The account of the path does not exist, is disabled, has not verified its email address, or is the service account itself.',
    fix: 'Check the id. Ask the person to verify the email address, or an administrator to enable the account.',
  },
  last_manager: {
    status: 409,
    title: 'The service account needs a manager',
    meaning: 'The last manager cannot be removed. Add another manager first, or delete the service account.',
    cause: 'The account is the only manager that is left.',
    fix: 'Add another manager first, or delete the service account. An administrator can remove the last manager.',
  },
} as const satisfies Record<string, ErrorDefinition>;
