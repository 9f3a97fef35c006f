/** Keys that administrators create: management keys, and keys of service accounts and of other persons. */
import Type, { type Static } from 'typebox';
import { administrator, changing, ofAccount } from './admin-parts.ts';
import { Addresses, CreatedKey, NewKeyBody } from './api-keys.ts';
import { currentPasswordErrors } from './errors/groups.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { AccountId } from './schemas.ts';
import { FactorProofBody } from './second-factor.ts';
import { NewServiceAccountBody, ServiceAccount } from './service-accounts.ts';

const { currentPassword, code, passkey } = FactorProofBody.properties;

/** What the proof of the owner can fail with. */
const proofErrors = [
  ...currentPasswordErrors,
  'second_factor_wrong',
  'second_factor_not_enrolled',
  'passkeys_unavailable',
] as const;

export const NewManagementKeyBody = Named(
  'NewManagementKey',
  {
    name: Type.Optional(NewServiceAccountBody.properties.name),
    accountId: Type.Optional(AccountId),
    nickname: NewKeyBody.properties.nickname,
    addresses: {
      ...Addresses,
      description: `The IP addresses and ranges from which the key is valid: IPv4 ranges of at least /${limits.managementKeyIpv4BitsMin}, IPv6 ranges of at least /${limits.managementKeyIpv6BitsMin}`,
    },
    expiresAt: Type.String({
      format: 'date-time',
      maxLength: 35,
      description: `RFC 3339, at most ${limits.managementKeyDaysMax} days from now`,
      examples: ['2027-02-27T00:00:00Z'],
    }),
    currentPassword,
    code,
    passkey,
  },
  {
    description:
      '`name` of a new service account, or `accountId` of an existing one; `code`, or `passkey`: the response to the options of `second_factor_required`',
    examples: [
      {
        name: 'backend',
        nickname: 'backend',
        addresses: ['203.0.113.7'],
        expiresAt: '2027-02-27T00:00:00Z',
        currentPassword: 'wombat orbit velvet 42',
        code: '492039',
      },
    ],
  },
);
export type NewManagementKeyBody = Static<typeof NewManagementKeyBody>;

export const CreatedManagementKey = Named('CreatedManagementKey', {
  serviceAccount: ServiceAccount,
  apiKey: CreatedKey,
});
export type CreatedManagementKey = Static<typeof CreatedManagementKey>;

export const adminCreateManagementKey = route('adminCreateManagementKey', 'POST /admin/management-keys', {
  ...administrator,
  summary: 'Create a management key',
  description:
    'Exists only with `KEYREEVE_CONSOLE_MANAGEMENT_KEYS=on`: otherwise 404 `not_found`. Creates a service account with the key, or the key of an existing one. The request proves the administrator by password and second factor, and needs no recent sign-in. Administrators get a mail. Only this response contains the secret.',
  body: { type: 'json', schema: NewManagementKeyBody },
  success: {
    status: 201,
    description: 'The service account and the new key',
    schema: CreatedManagementKey,
    headers: { Location: '/admin/accounts/{id}/api-keys/{keyId}' },
  },
  errors: [
    ...proofErrors,
    'not_found',
    'account_not_found',
    'nickname_invalid',
    'nickname_taken',
    'name_taken',
    'email_unverified',
    'account_limited',
    'service_account_limit_reached',
    'key_limit_reached',
    'too_many_creations',
  ],
});

export const AdministeredNewKeyBody = Named(
  'AdministeredNewApiKey',
  {
    ...NewKeyBody.properties,
    currentPassword: Type.Optional(currentPassword),
    code,
    passkey,
  },
  {
    description:
      'For a person: also `currentPassword` of the administrator, and `code`, or `passkey`: the response to the options of `second_factor_required`',
    examples: [{ nickname: 'worker', scopes: ['orders:read'] }],
  },
);

export const adminCreateKey = route('adminCreateKey', 'POST /admin/accounts/:id/api-keys', {
  ...changing,
  summary: 'Create an API key of another account',
  description:
    'For a service account, or for another person, who gets a mail with the email address of the administrator. A key of a person needs the password and a second factor of the administrator in the request. Grants no scope of Keyreeve. Only this response contains the secret.',
  ...ofAccount,
  body: { type: 'json', schema: AdministeredNewKeyBody },
  success: {
    status: 201,
    description: 'The new key',
    schema: CreatedKey,
    headers: { Location: '/admin/accounts/{id}/api-keys/{keyId}' },
  },
  errors: [
    'account_not_found',
    'own_account',
    'nickname_invalid',
    'nickname_taken',
    'scope_invalid',
    'scope_not_entitled',
    'reserved_scope',
    'key_limit_reached',
    'too_many_creations',
    'email_unverified',
    'email_unconfirmed',
    'mail_not_configured',
    ...proofErrors,
  ],
});
