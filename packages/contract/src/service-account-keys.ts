/** API keys, limits and entitlements of service accounts. The routes of keys derive from those of an account's own keys. */
import Type, { type Static } from 'typebox';
import { changeKey, endPreviousSecret, getKey, rotateKey } from './api-key-changes.ts';
import { CreatedKey, createKey, deleteKey, keyFields, keyTimes, listKeys, NewKeyBody } from './api-keys.ts';
import { derivedRoute } from './derived-route.ts';
import { getKeyTokens } from './key-tokens.ts';
import { getKeyUsage } from './key-usage.ts';
import { KeyLimits, shownLimits } from './key-limits.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { registerPublicKey } from './public-key-registration.ts';
import { route, type RouteContract } from './route.ts';
import { AccountId, Text } from './schemas.ts';
import { EntitlementsBody } from './scopes.ts';

export const NewServiceAccountKeyBody = Named(
  'NewServiceAccountKey',
  {
    ...NewKeyBody.properties,
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: `The SHA-256 of an existing secret, in lower-case hexadecimal: the key keeps that secret, and the response contains none. The secret has at most ${limits.importedKeyCharsMax} visible ASCII characters, no spaces and no commas, and is hashed without a line end. For management keys only`,
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    ),
  },
  { examples: [{ nickname: 'tenant 182', scopes: ['orders:read'] }] },
);
export type NewServiceAccountKeyBody = Static<typeof NewServiceAccountKeyBody>;

export const CreatedServiceAccountKey = Named(
  'CreatedServiceAccountKey',
  { ...keyFields, key: Type.Optional(CreatedKey.properties.key), ...keyTimes },
  { description: '`key` is absent if the request has `sha256`' },
);
export type CreatedServiceAccountKey = Static<typeof CreatedServiceAccountKey>;

const ofServiceAccount = derivedRoute({
  tag: 'Service accounts',
  auth: 'manager',
  path: '/auth/service-accounts/:accountId/',
  params: { accountId: AccountId },
  owner: 'a service account’s',
  description: 'for a service account that the caller manages.',
  errors: ['account_not_found'],
});

const created = ofServiceAccount('createServiceAccountKey', createKey);
export const createServiceAccountKey = {
  ...created,
  description: `${created.description} With \`sha256\`, a management key creates a key whose secret exists already. Other instances accept the first such key after at most ${limits.importedKeysLookSeconds} seconds.`,
  body: { type: 'json', schema: NewServiceAccountKeyBody },
  success: {
    ...created.success,
    schema: CreatedServiceAccountKey,
    headers: { Location: '/auth/service-accounts/{accountId}/api-keys/{id}' },
  },
  errors: [...created.errors, 'management_key_required', 'secret_taken'],
} as const satisfies RouteContract;

const registered = ofServiceAccount('registerServiceAccountPublicKey', registerPublicKey);
export const registerServiceAccountPublicKey = {
  ...registered,
  success: { ...registered.success, headers: createServiceAccountKey.success.headers },
} as const satisfies RouteContract;

export const listServiceAccountKeys = ofServiceAccount('listServiceAccountKeys', listKeys);
export const getServiceAccountKey = ofServiceAccount('getServiceAccountKey', getKey);
export const changeServiceAccountKey = ofServiceAccount('changeServiceAccountKey', changeKey);
export const rotateServiceAccountKey = ofServiceAccount('rotateServiceAccountKey', rotateKey);
export const endServiceAccountPreviousSecret = ofServiceAccount('endServiceAccountPreviousSecret', endPreviousSecret, [
  'reserved_scope',
]);
export const getServiceAccountKeyUsage = ofServiceAccount('getServiceAccountKeyUsage', getKeyUsage);
export const getServiceAccountKeyTokens = ofServiceAccount('getServiceAccountKeyTokens', getKeyTokens);
export const deleteServiceAccountKey = ofServiceAccount('deleteServiceAccountKey', deleteKey);

export const ServiceAccountLimits = Named('ServiceAccountLimits', shownLimits);
export const ServiceAccountEntitlements = Named('ServiceAccountEntitlements', {
  entitlements: Type.Array(Text('reports:read')),
});

const accountPath = '/auth/service-accounts/:accountId';
const byManagementKey = {
  tag: 'Service accounts',
  auth: 'management_key',
  isNarrowing: true,
  params: Type.Object({ accountId: AccountId }),
} as const;

export const setServiceAccountLimits = route('setServiceAccountLimits', `PUT ${accountPath}/limits`, {
  ...byManagementKey,
  summary: 'Set the limits of a service account',
  description:
    'All API keys of the service account share them. Replaces all of them: an absent member removes that limit. Applies to every verification that starts after the response.',
  body: { type: 'json', schema: KeyLimits },
  success: { status: 200, description: 'The limits', schema: ServiceAccountLimits },
  errors: ['management_key_required', 'account_not_found', 'too_many_changes'],
});

export const setServiceAccountEntitlements = route('setServiceAccountEntitlements', `PUT ${accountPath}/entitlements`, {
  ...byManagementKey,
  summary: 'Set the entitlements of a service account',
  description:
    'An added entitlement must be one of the account that owns the management key. A removed one is in force on no key of the service account, for every verification that starts after the response.',
  body: { type: 'json', schema: EntitlementsBody },
  success: { status: 200, description: 'The entitlements', schema: ServiceAccountEntitlements },
  errors: ['management_key_required', 'scope_not_entitled', 'account_not_found', 'too_many_changes'],
});

export const serviceAccountKeyRoutes = [
  createServiceAccountKey,
  registerServiceAccountPublicKey,
  listServiceAccountKeys,
  getServiceAccountKey,
  changeServiceAccountKey,
  rotateServiceAccountKey,
  endServiceAccountPreviousSecret,
  getServiceAccountKeyUsage,
  getServiceAccountKeyTokens,
  deleteServiceAccountKey,
  setServiceAccountLimits,
  setServiceAccountEntitlements,
] as const;
