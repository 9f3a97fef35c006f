/** Administration: accounts of others, by an administrator’s access token; and the first administrator, by a code. */
import Type, { type TSchema } from 'typebox';
import {
  AccountDetail,
  AccountPage,
  AdministeredKeys,
  AdministeredSessions,
  AuditPage,
  CompromisedBody,
  FirstAdministrator,
  FirstAdministratorBody,
  InvitationRequest,
  RoleBody,
  SetEmailBody,
} from './admin-schemas.ts';
import { administratorErrors, newPasswordErrors } from './error-groups.ts';
import type { ErrorCode } from './errors.ts';
import { limits } from './limits.ts';
import { pageFields } from './paging.ts';
import type { RouteContract } from './route.ts';
import { AccountId, KeyId, Message, Role } from './schemas.ts';
import { SessionId } from './sessions.ts';

const administrator = { tag: 'Administration', auth: 'administrator' } as const;
/** A change. All of an administrator's use the reserved capacity: most take rights away, and few callers can send them. */
const dangerous = { ...administrator, needsRecentSignIn: true, isNarrowing: true } as const;
const ofAccount = { params: Type.Object({ id: AccountId }) } as const;
const account = { status: 200, description: 'The account, as it is now', schema: AccountDetail } as const;
const message = { status: 200, description: 'It is done', schema: Message } as const;

/** A change of one account, without a body. */
const change = <const Id extends string, const Path extends string, const Codes extends readonly ErrorCode[]>(
  id: Id,
  path: Path,
  summary: string,
  description: string,
  errors: Codes,
) =>
  ({
    ...dangerous,
    id,
    method: 'POST',
    path: `/admin/accounts/:id/${path}`,
    summary,
    description,
    ...ofAccount,
    success: account,
    errors: [...administratorErrors, 'reauth_required', 'account_not_found', ...errors],
  }) as const satisfies RouteContract;

const query = <S extends Record<string, TSchema>>(fields: S) =>
  Type.Object({ ...fields, ...pageFields }, { additionalProperties: false });

export const adminListAccounts = {
  ...administrator,
  id: 'adminListAccounts',
  method: 'GET',
  path: '/admin/accounts',
  summary: 'Search accounts',
  description: `In the order of their emails. Each page looks at ${limits.adminRowsPerPageMax} accounts at most, so go on while \`nextCursor\` isn’t null.`,
  query: query({
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.emailCharsMax,
        pattern: String.raw`^[^\x00-\x1F\x7F]+$`,
        description: 'An id, or a part of an email, in any case. No character stands for others',
      }),
    ),
    role: Type.Optional(Role),
    state: Type.Optional(Type.Enum(['enabled', 'disabled', 'unverified'], { description: '`enabled`: not disabled' })),
  }),
  success: { status: 200, description: 'A page of accounts', schema: AccountPage },
  errors: [...administratorErrors, 'invalid_request'],
} as const satisfies RouteContract;

export const adminGetAccount = {
  ...administrator,
  id: 'adminGetAccount',
  method: 'GET',
  path: '/admin/accounts/:id',
  summary: 'Read an account',
  ...ofAccount,
  success: account,
  errors: [...administratorErrors, 'account_not_found'],
} as const satisfies RouteContract;

export const adminInviteAccount = {
  ...dangerous,
  id: 'adminInviteAccount',
  method: 'POST',
  path: '/admin/accounts',
  summary: 'Invite somebody',
  description: `Makes an account without a password and sends a link with which its owner chooses one, good for ${limits.invitationCodeSeconds / 60} minutes.`,
  body: { type: 'json', schema: InvitationRequest },
  success: {
    status: 201,
    description: 'The new account',
    schema: AccountDetail,
    headers: { Location: '/admin/accounts/{id}' },
  },
  errors: [...administratorErrors, 'reauth_required', 'email_invalid', 'account_exists', 'mail_not_configured'],
} as const satisfies RouteContract;

export const adminInviteAgain = change(
  'adminInviteAgain',
  'invite',
  'Send an invitation again',
  'With a new link; those before are void. For an account that has no password yet.',
  ['account_has_password', 'mail_not_configured'],
);

export const adminDisableAccount = change(
  'adminDisableAccount',
  'disable',
  'Disable an account',
  'Once this is answered its sessions have ended and its keys are refused, on every instance.',
  ['last_administrator'],
);

export const adminEnableAccount = change(
  'adminEnableAccount',
  'enable',
  'Enable an account',
  'It can sign in again and its keys work again. Its sessions don’t come back.',
  [],
);

export const adminEndSessions = change(
  'adminEndSessions',
  'end-sessions',
  'End all sessions of an account',
  'Also the one that asks, when it is the account’s own.',
  [],
);

export const adminRevokeKeys = change(
  'adminRevokeKeys',
  'revoke-keys',
  'Delete all API keys of an account',
  'All in one commit. It can’t be undone.',
  [],
);

export const adminResetPassword = change(
  'adminResetPassword',
  'reset-password',
  'Send a password reset',
  'The owner gets a link and chooses a new password; nobody else learns it. The old one works until then.',
  ['mail_not_configured'],
);

export const adminReportCompromised = {
  ...change(
    'adminReportCompromised',
    'compromised',
    'Take an account from whoever has got into it',
    'In one commit: its sessions end, its API keys are deleted, its password stops working, and its owner is sent a link to choose a new one. A second factor stays in force. Without mail, disable it instead. When the email was changed in the last 30 days, the body must name where the link goes: the previous address, which is restored then, or the current one.',
    ['mail_not_configured', 'last_administrator', 'email_changed_recently', 'account_exists'],
  ),
  body: { type: 'json', schema: CompromisedBody, isOptional: true },
} as const satisfies RouteContract;

export const adminSetEmail = {
  ...dangerous,
  id: 'adminSetEmail',
  method: 'PUT',
  path: '/admin/accounts/:id/email',
  summary: 'Set the email of an account',
  description:
    'For an owner who has lost the mailbox. The new address gets a link and confirms first; until then nothing changes. The present address is told. Needs a sign-in with a second factor, and isn’t possible for an administrator’s account.',
  ...ofAccount,
  body: { type: 'json', schema: SetEmailBody },
  success: {
    status: 202,
    description: 'The account, as it is now; a mail to the new address follows',
    schema: AccountDetail,
  },
  errors: [
    ...administratorErrors,
    'reauth_required',
    'account_not_found',
    'email_invalid',
    'account_exists',
    'account_unverified',
    'administrator_protected',
    'second_factor_not_enrolled',
    'mail_not_configured',
    'too_many_requests',
  ],
} as const satisfies RouteContract;

export const adminRequireSecondFactor = change(
  'adminRequireSecondFactor',
  'require-second-factor',
  'Require a second factor',
  'Until one is enrolled the account’s access tokens are good for little more than that.',
  [],
);

export const adminWaiveSecondFactor = change(
  'adminWaiveSecondFactor',
  'waive-second-factor',
  'No longer require a second factor',
  'One that is enrolled stays in force.',
  [],
);

export const adminRemoveSecondFactor = change(
  'adminRemoveSecondFactor',
  'remove-second-factor',
  'Remove a lost second factor',
  'With its recovery codes; the account’s sessions end, and its owner is told by mail. An administrator can’t remove its own this way. Make sure before that the owner asks for it: from then on the password is enough.',
  ['second_factor_not_enrolled', 'own_account'],
);

export const adminSetRole = {
  ...dangerous,
  id: 'adminSetRole',
  method: 'PUT',
  path: '/admin/accounts/:id/role',
  summary: 'Give an account a role',
  description: 'In force from its next request on, in the sessions that it has as well.',
  ...ofAccount,
  body: { type: 'json', schema: RoleBody },
  success: account,
  errors: [...administratorErrors, 'reauth_required', 'account_not_found', 'account_unverified', 'last_administrator'],
} as const satisfies RouteContract;

export const adminDeleteAccount = {
  ...dangerous,
  id: 'adminDeleteAccount',
  method: 'DELETE',
  path: '/admin/accounts/:id',
  summary: 'Delete an account',
  description: 'With its sessions and keys: all of it is refused once this is answered. The email is free again.',
  ...ofAccount,
  success: message,
  errors: [...administratorErrors, 'reauth_required', 'account_not_found', 'last_administrator'],
} as const satisfies RouteContract;

export const adminListKeys = {
  ...administrator,
  id: 'adminListKeys',
  method: 'GET',
  path: '/admin/accounts/:id/api-keys',
  summary: 'List an account’s API keys',
  description: 'Without their secrets, which nobody can read.',
  ...ofAccount,
  success: { status: 200, description: 'The keys, oldest first', schema: AdministeredKeys },
  errors: [...administratorErrors, 'account_not_found'],
} as const satisfies RouteContract;

export const adminDeleteKey = {
  ...dangerous,
  id: 'adminDeleteKey',
  method: 'DELETE',
  path: '/admin/accounts/:id/api-keys/:keyId',
  summary: 'Delete an account’s API key',
  params: Type.Object({ id: AccountId, keyId: KeyId }),
  success: message,
  errors: [...administratorErrors, 'reauth_required', 'account_not_found', 'key_not_found'],
} as const satisfies RouteContract;

export const adminListSessions = {
  ...administrator,
  id: 'adminListSessions',
  method: 'GET',
  path: '/admin/accounts/:id/sessions',
  summary: 'List an account’s sessions',
  ...ofAccount,
  success: { status: 200, description: 'Those that live, newest first', schema: AdministeredSessions },
  errors: [...administratorErrors, 'account_not_found'],
} as const satisfies RouteContract;

export const adminEndSession = {
  ...dangerous,
  id: 'adminEndSession',
  method: 'DELETE',
  path: '/admin/accounts/:id/sessions/:sessionId',
  summary: 'End an account’s session',
  params: Type.Object({ id: AccountId, sessionId: SessionId }),
  success: message,
  errors: [...administratorErrors, 'reauth_required', 'account_not_found', 'session_not_found'],
} as const satisfies RouteContract;

export const adminListAudit = {
  ...administrator,
  id: 'adminListAudit',
  method: 'GET',
  path: '/admin/audit',
  summary: 'Read the audit trail',
  description: `Newest first. Each page looks at ${limits.adminRowsPerPageMax} events at most, so go on while \`nextCursor\` isn’t null.`,
  query: query({
    account: Type.Optional(
      Type.String({ pattern: '^acc_[0-9A-Za-z]{1,60}$', description: 'Only what was done to this account' }),
    ),
    action: Type.Optional(
      Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', maxLength: 64, examples: ['account.disabled'] }),
    ),
  }),
  success: { status: 200, description: 'A page of events', schema: AuditPage },
  errors: [...administratorErrors, 'invalid_request'],
} as const satisfies RouteContract;

export const createFirstAdministrator = {
  id: 'createFirstAdministrator',
  method: 'POST',
  path: '/auth/first-administrator',
  tag: 'Administration',
  summary: 'Make the first administrator',
  description:
    'With the code that `keyreeve admin bootstrap` has written into a file. It is good once, for an hour, and only while there is no administrator.',
  auth: 'one_time_code',
  body: { type: 'json', schema: FirstAdministratorBody },
  success: { status: 201, description: 'The account; sign in now', schema: FirstAdministrator },
  errors: ['code_invalid', 'email_invalid', 'account_exists', ...newPasswordErrors, 'overloaded'],
} as const satisfies RouteContract;

/** Every one of them, for the list of all routes. */
export const adminRoutes = [
  adminListAccounts,
  adminInviteAccount,
  adminGetAccount,
  adminDeleteAccount,
  adminSetRole,
  adminInviteAgain,
  adminDisableAccount,
  adminEnableAccount,
  adminEndSessions,
  adminRevokeKeys,
  adminResetPassword,
  adminReportCompromised,
  adminSetEmail,
  adminRequireSecondFactor,
  adminWaiveSecondFactor,
  adminRemoveSecondFactor,
  adminListKeys,
  adminDeleteKey,
  adminListSessions,
  adminEndSession,
  adminListAudit,
  createFirstAdministrator,
] as const;
