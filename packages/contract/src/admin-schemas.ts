/** Schemas of the bodies and responses of administration. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { nextCursor, total } from './paging.ts';
import { KeyChangeBody } from './api-key-changes.ts';
import { shownLimits } from './key-limits.ts';
import { ListedKeyFull } from './api-keys.ts';
import { Named } from './named.ts';
import { AccountId, Email, Instant, orNull, Role, strict, Text } from './schemas.ts';
import { shownFactors } from './second-factor.ts';

const accountFields = {
  id: AccountId,
  kind: Type.Enum(['person', 'service']),
  email: orNull(Text('ada@example.com', 'Null for a service account')),
  role: Role,
  verified: Type.Boolean({ description: 'Whether the email address is verified' }),
  hasPassword: Type.Boolean({ description: 'Whether it can sign in; false until an invitation or a reset is used' }),
  requiresSecondFactor: Type.Boolean({ description: 'Whether an administrator requires one' }),
  createdAt: Instant,
  updatedAt: Instant,
  disabledAt: orNull(Instant, null),
  name: orNull(Text('billing', 'Of a service account'), null),
  externalId: orNull(Text('tenant-7', 'Of a service account'), null),
  creatorId: orNull(AccountId, null),
};

export const AdministeredAccount = Named('AccountSummary', accountFields);
export type AdministeredAccount = Static<typeof AdministeredAccount>;

export const PreviousEmail = Named('PreviousEmail', {
  previousEmail: Text('ada@example.com', 'Verified before the change'),
  changedAt: Instant,
});

export const AccountDetail = Named('AccountDetails', {
  ...accountFields,
  secondFactor: Type.Boolean({ description: 'Whether a second factor is enrolled' }),
  ...shownFactors,
  apiKeyCount: Type.Integer({ minimum: 0 }),
  sessionCount: Type.Integer({ minimum: 0, description: 'Active sessions' }),
  ...shownLimits,
  entitlements: Type.Array(Text('reports:read'), {
    description: 'Scopes with `entitled: true` that its keys may have',
  }),
  emailChanges: Type.Array(PreviousEmail, {
    description: `Changes of the email in the last ${limits.emailChangeKeptDays} days, newest first`,
  }),
});
export type AccountDetail = Static<typeof AccountDetail>;

export const AccountPage = Named('AccountPage', { accounts: Type.Array(AdministeredAccount), nextCursor, total });
export type AccountPage = Static<typeof AccountPage>;

export const AdministeredKeys = Named('ApiKeyDetailsList', { apiKeys: Type.Array(ListedKeyFull) });

/** The members of a key that an administrator can change: never its scopes or its secret. */
export const KeyRestrictionBody = Type.Pick(KeyChangeBody, ['expiresAt', 'disabled', 'addresses', 'limits'], {
  $id: 'ApiKeyRestriction',
  ...strict,
  minProperties: 1,
  description: 'Absent members keep their values; null removes a value',
  examples: [{ disabled: true }],
});
export type KeyRestrictionBody = Static<typeof KeyRestrictionBody>;

export const AuditEvent = Named('AuditEvent', {
  id: Type.Integer({ format: 'int64', examples: [1042] }),
  at: Instant,
  actor: Type.String({ examples: ['account:acc_4mW1kq0ZbYp7sT2xUvN8Rd', 'operator', 'system'] }),
  action: Type.String({ examples: ['account.disabled'] }),
  accountId: orNull(AccountId),
  target: orNull(Text('acc_4mW1kq0ZbYp7sT2xUvN8Rd')),
  details: Type.Unknown({ description: 'An object, or null', examples: [null] }),
});
export const AuditPage = Named('AuditPage', {
  events: Type.Array(AuditEvent),
  nextCursor,
  total,
  nextAfter: Type.Optional(
    Type.Integer({ format: 'int64', minimum: 0, description: 'Only with `after`: its next value' }),
  ),
});
export type AuditPage = Static<typeof AuditPage>;

export const InvitationRequest = Named('Invitation', { email: Email, role: Type.Optional(Role) });
export const CompromisedBody = Named('CompromisedReport', {
  resetTo: Type.Optional(
    Type.Enum(['previous', 'current'], {
      description: 'The email address for the link to set a new password; required after a recent change of the email',
    }),
  ),
  previousEmail: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.emailCharsMax,
      examples: ['ada@example.com'],
      description: 'The one of `emailChanges` to restore; required if there are several',
    }),
  ),
});
export const RoleBody = Named('RoleChange', { role: Role });
export const FirstAdministratorBody = Named('FirstAdministrator', {
  code: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'From the file that `keyreeve admin bootstrap` wrote',
    examples: ['krvc_9fK2…'],
  }),
  email: Email,
  // JSON Schema cannot express the rules: see `newPasswordErrors`.
  password: Type.String({ minLength: 1, examples: ['wombat orbit velvet 42'] }),
});
export const FirstAdministrator = Named('CreatedAdministrator', {
  id: AccountId,
  email: Text('ada@example.com'),
  role: Role,
});
export type FirstAdministrator = Static<typeof FirstAdministrator>;
