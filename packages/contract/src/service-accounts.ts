/** Service accounts: accounts of machines, whose managers create their keys. */
import Type, { type Static, type TSchema } from 'typebox';
import { changing, administrator, ofAccount } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields, total, totalField } from './paging.ts';
import { route } from './route.ts';
import { AccountId, Instant, Message, orNull, strict, Text } from './schemas.ts';

// The rules of nicknames apply, which JSON Schema cannot express.
const Name = Type.String({
  minLength: 1,
  maxLength: limits.nicknameBytesMax,
  description: 'Unique among the service accounts of its creator; the rules of nicknames apply',
  examples: ['billing'],
});
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: limits.externalIdCharsMax,
  description:
    'Your own id, for example of a tenant: printable characters, compared exactly, unique among the service accounts of its creator',
  examples: ['tenant-7'],
});

export const NewServiceAccountBody = Named('NewServiceAccount', { name: Name, externalId: Type.Optional(ExternalId) });

export const ServiceAccountChangeBody = Named(
  'ServiceAccountChange',
  { name: Type.Optional(Name), externalId: Type.Optional(orNull(ExternalId)) },
  {
    minProperties: 1,
    description: 'Absent members keep their values; null removes the external id',
    examples: [{ name: 'billing worker' }],
  },
);

export const ServiceAccount = Named(
  'ServiceAccount',
  {
    id: AccountId,
    name: Text('billing'),
    externalId: orNull(Text('tenant-7')),
    creatorId: orNull(AccountId),
    createdAt: Instant,
    updatedAt: Instant,
  },
  {
    description:
      '`creatorId`: the account that created it, null after the deletion of that account; `updatedAt`: the last change of these members or of the managers',
  },
);
export type ServiceAccount = Static<typeof ServiceAccount>;

export const ServiceAccountPage = Named('ServiceAccountPage', {
  serviceAccounts: Type.Array(ServiceAccount),
  nextCursor,
  total,
});

export const Manager = Named('Manager', { accountId: AccountId, addedAt: Instant });
export type Manager = Static<typeof Manager>;
export const ManagerList = Named('ManagerList', { managers: Type.Array(Manager) });

const managing = { tag: 'Service accounts', auth: 'manager' } as const;
// No management key: a thief of one would add an account of their own, which stays after the key was deleted.
const managingAsPerson = { tag: 'Service accounts', auth: 'access_token' } as const;
const path = '/auth/service-accounts/:id';
const ofManager = { params: Type.Object({ id: AccountId, accountId: AccountId }) } as const;
const shown = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ status: 200, description, schema }) as const;

export const createServiceAccount = route('createServiceAccount', 'POST /auth/service-accounts', {
  ...managing,
  summary: 'Create a service account',
  description:
    'The account of the caller becomes its first manager. A service account never signs in; it has API keys, which stay valid when its managers leave.',
  body: { type: 'json', schema: NewServiceAccountBody },
  success: {
    status: 201,
    description: 'The new service account',
    schema: ServiceAccount,
    headers: { Location: '/auth/service-accounts/{id}' },
  },
  errors: [
    'nickname_invalid',
    'email_unverified',
    'account_limited',
    'external_id_taken',
    'name_taken',
    'service_account_limit_reached',
    'too_many_creations',
  ],
});

export const listServiceAccounts = route('listServiceAccounts', 'GET /auth/service-accounts', {
  ...managing,
  summary: 'List the service accounts that the caller manages',
  isOpenBeforeEnrolment: true,
  description:
    'In the order in which the caller became a manager. With `externalId`, only the one that the account of the caller has created.',
  query: Type.Object({ externalId: Type.Optional(ExternalId), ...pageFields, ...totalField }, strict),
  success: shown('A page of service accounts', ServiceAccountPage),
  errors: ['invalid_request'],
});

export const getServiceAccount = route('getServiceAccount', `GET ${path}`, {
  ...managing,
  ...ofAccount,
  summary: 'Get a service account',
  success: shown('The service account', ServiceAccount),
  errors: ['account_not_found'],
});

export const changeServiceAccount = route('changeServiceAccount', `PATCH ${path}`, {
  ...managing,
  ...ofAccount,
  summary: 'Change a service account',
  description:
    'Only the account that created it can do this, with an access token or a management key. After the deletion of that account, every manager can.',
  body: { type: 'json', schema: ServiceAccountChangeBody },
  success: shown('The service account', ServiceAccount),
  errors: [
    'nickname_invalid',
    'creator_required',
    'account_not_found',
    'external_id_taken',
    'name_taken',
    'too_many_changes',
  ],
});

export const deleteServiceAccount = route('deleteServiceAccount', `DELETE ${path}`, {
  ...managing,
  ...ofAccount,
  summary: 'Delete a service account',
  description:
    'Also deletes its keys: every verification that starts after the response rejects them, on every instance. Cannot be undone.',
  needsRecentSignIn: true,
  isNarrowing: true,
  success: shown('It is deleted', Message),
  errors: ['account_not_found'],
});

const managers = shown('The managers, in the order in which they were added', ManagerList);
const added = shown('The manager', Manager);
const removed = shown('The account is no longer a manager', Message);

export const listManagers = route('listManagers', `GET ${path}/managers`, {
  ...managing,
  ...ofAccount,
  summary: 'List the managers of a service account',
  success: managers,
  errors: ['account_not_found'],
});

export const addManager = route('addManager', `PUT ${path}/managers/:accountId`, {
  ...managingAsPerson,
  ...ofManager,
  summary: 'Add a manager',
  description:
    'A manager can delete the service account, do everything with its keys, and add and remove managers. Nothing changes if the account is a manager already. Management keys only read managers.',
  needsRecentSignIn: true,
  success: added,
  errors: ['account_not_found', 'manager_not_eligible', 'manager_limit_reached', 'too_many_changes'],
});

export const removeManager = route('removeManager', `DELETE ${path}/managers/:accountId`, {
  ...managingAsPerson,
  ...ofManager,
  summary: 'Remove a manager',
  description:
    'After the response, the account can do nothing with the service account. Keys that it created stay valid. The last manager cannot be removed.',
  needsRecentSignIn: true,
  isNarrowing: true,
  success: removed,
  errors: ['account_not_found', 'manager_not_found', 'last_manager'],
});

const adminPath = '/admin/accounts/:id/managers';

export const adminListManagers = route('adminListManagers', `GET ${adminPath}`, {
  ...administrator,
  ...ofAccount,
  summary: 'List the managers of a service account',
  success: managers,
  errors: ['account_not_found'],
});

export const adminAddManager = route('adminAddManager', `PUT ${adminPath}/:accountId`, {
  ...changing,
  ...ofManager,
  summary: 'Add a manager to a service account',
  description: 'For a service account whose managers have left.',
  success: added,
  errors: ['account_not_found', 'manager_not_eligible', 'manager_limit_reached'],
});

export const adminRemoveManager = route('adminRemoveManager', `DELETE ${adminPath}/:accountId`, {
  ...changing,
  ...ofManager,
  summary: 'Remove a manager of a service account',
  description: 'An administrator can remove the last manager too.',
  success: removed,
  errors: ['account_not_found', 'manager_not_found'],
});

export const serviceAccountRoutes = [
  createServiceAccount,
  listServiceAccounts,
  getServiceAccount,
  changeServiceAccount,
  deleteServiceAccount,
  listManagers,
  addManager,
  removeManager,
] as const;

export const serviceAccountAdminRoutes = [adminListManagers, adminAddManager, adminRemoveManager] as const;
