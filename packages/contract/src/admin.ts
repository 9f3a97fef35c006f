/** Administration: administrators manage accounts; a one-time code creates the first administrator. */
import Type, { type TSchema } from 'typebox';
import {
  AccountDetail,
  AccountPage,
  CompromisedBody,
  FirstAdministrator,
  FirstAdministratorBody,
  InvitationRequest,
  RoleBody,
} from './admin-schemas.ts';
import {
  adminChangeKey,
  adminDeleteKey,
  adminGetKey,
  adminGetKeyTokens,
  adminGetKeyUsage,
  adminListKeys,
  adminSetLimits,
} from './admin-keys.ts';
import { adminCreateKey, adminCreateManagementKey } from './admin-key-creation.ts';
import { EmailBody } from './accounts.ts';
import { adminExportAudit, adminListAudit } from './admin-audit.ts';
import { adminGetOverview } from './admin-overview.ts';
import { adminFindKey, adminSearchKeys } from './admin-key-list.ts';
import { adminListMail, adminReadOutbox, adminTestMail } from './admin-mail.ts';
import { adminReadSettings } from './admin-settings.ts';
import { adminListSigningKeys, adminRotateSigningKeys } from './admin-signing-keys.ts';
import { account, administrator, changing, message, ofAccount } from './admin-parts.ts';
import { newPasswordErrors } from './errors/groups.ts';
import type { ErrorCode } from './errors.ts';
import { limits } from './limits.ts';
import { pageFields, totalField } from './paging.ts';
import { route, type RouteContract } from './route.ts';
import { AccountFilter, AccountId, AccountIdList, Role } from './schemas.ts';
import { SessionId, SessionList } from './sessions.ts';

/** A change of one account, without a body. */
const change = <const Id extends string, const Path extends string, const Codes extends readonly ErrorCode[]>(
  id: Id,
  path: Path,
  { errors, ...described }: { errors: Codes } & Record<'summary' | 'description', string>,
) =>
  route(id, `POST /admin/accounts/:id/${path}`, {
    ...changing,
    ...described,
    ...ofAccount,
    success: account,
    errors: ['account_not_found', ...errors],
  });

const query = <S extends Record<string, TSchema>>(fields: S) =>
  Type.Object({ ...fields, ...pageFields, ...totalField }, { additionalProperties: false });

export const adminListAccounts = route('adminListAccounts', 'GET /admin/accounts', {
  ...administrator,
  summary: 'Search accounts',
  description: `Ordered by email; a service account has its id there. The server reads at most ${limits.adminRowsPerPageMax} accounts for a page, so continue until \`nextCursor\` is null.`,
  query: query({
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.emailCharsMax,
        pattern: String.raw`^[^\x00-\x1F\x7F]+$`,
        description: 'An id or part of an email, in any case; no wildcards',
      }),
    ),
    email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.emailCharsMax,
        examples: ['ada@example.com'],
        description: 'Only the account with this email, in any case, without the other filters',
      }),
    ),
    kind: Type.Optional(Type.Enum(['person', 'service'])),
    ids: AccountIdList(
      limits.accountIdsMax,
      `Only the existing accounts among these: at most ${limits.accountIdsMax} ids, separated by commas, without other parameters`,
    ),
    creatorId: AccountFilter('Only service accounts that this account has created'),
    role: Type.Optional(Role),
    state: Type.Optional(Type.Enum(['enabled', 'disabled', 'unverified'], { description: '`enabled`: not disabled' })),
  }),
  success: { status: 200, description: 'A page of accounts', schema: AccountPage },
  errors: ['invalid_request'],
});

export const adminGetAccount = route('adminGetAccount', 'GET /admin/accounts/:id', {
  ...administrator,
  summary: 'Read an account',
  ...ofAccount,
  success: account,
  errors: ['account_not_found'],
});

export const adminInviteAccount = route('adminInviteAccount', 'POST /admin/accounts', {
  ...changing,
  summary: 'Invite a user',
  description:
    'Creates an account without a password and mails its owner a link to set one, by default valid for 7 days, or 24 hours for an administrator. After 7 days, its page offers a new mail, unless the account was disabled or deleted.',
  body: { type: 'json', schema: InvitationRequest },
  success: {
    status: 201,
    description: 'The new account',
    schema: AccountDetail,
    headers: { Location: '/admin/accounts/{id}' },
  },
  errors: ['email_invalid', 'account_exists', 'mail_not_configured'],
});

export const adminInviteAgain = change('adminInviteAgain', 'invite', {
  summary: 'Send an invitation again',
  description: 'Sends a new link and voids the earlier ones. For an account without a password.',
  errors: ['account_has_password', 'mail_not_configured', 'email_unconfirmed', 'service_account'],
});

export const adminDisableAccount = change('adminDisableAccount', 'disable', {
  summary: 'Disable an account',
  description: 'After the response, its sessions have ended and every instance rejects its keys.',
  errors: ['last_administrator'],
});

export const adminEnableAccount = change('adminEnableAccount', 'enable', {
  summary: 'Enable an account',
  description: 'Sign-ins and its keys work again. Its sessions stay ended.',
  errors: [],
});

export const adminEndSessions = change('adminEndSessions', 'end-sessions', {
  summary: 'End all sessions of an account',
  description: 'Including the current session, if it belongs to the account.',
  errors: ['service_account'],
});

export const adminRevokeKeys = change('adminRevokeKeys', 'revoke-keys', {
  summary: 'Delete all API keys of an account',
  description: 'In one commit. Cannot be undone.',
  errors: [],
});

export const adminResetPassword = change('adminResetPassword', 'reset-password', {
  summary: 'Send a password reset',
  description: 'Mails the owner a link to set a new password. The old one works until then.',
  errors: ['mail_not_configured', 'email_unconfirmed', 'service_account'],
});

export const adminReportCompromised = {
  ...change('adminReportCompromised', 'compromised', {
    summary: 'Secure a compromised account',
    description:
      'In one commit: ends its sessions, deletes its API keys, voids its password, removes its passkeys, and mails its owner a link to set a new password. An authenticator app stays in force. Without mail, disable the account instead. If the email was changed within 30 days, the body must select the recipient of the link: the previous email address, which is restored, or the current one.',
    errors: [
      'mail_not_configured',
      'last_administrator',
      'email_changed_recently',
      'email_unconfirmed',
      'account_exists',
      'service_account',
    ],
  }),
  body: { type: 'json', schema: CompromisedBody, isOptional: true },
} as const satisfies RouteContract;

export const adminSetEmail = route('adminSetEmail', 'PUT /admin/accounts/:id/email', {
  ...changing,
  summary: 'Set the email of an account',
  description:
    'For an owner who has lost the mailbox. Nothing changes until the new email address confirms by its link. The current one is notified. Needs a sign-in with a second factor; rejects the accounts of administrators.',
  ...ofAccount,
  body: { type: 'json', schema: EmailBody },
  success: {
    status: 202,
    description: 'The account; a mail to the new email address follows',
    schema: AccountDetail,
  },
  errors: [
    'account_not_found',
    'email_invalid',
    'account_exists',
    'account_unverified',
    'administrator_protected',
    'second_factor_not_enrolled',
    'mail_not_configured',
    'service_account',
    'too_many_requests',
  ],
});

export const adminRequireSecondFactor = change('adminRequireSecondFactor', 'require-second-factor', {
  summary: 'Require a second factor',
  description:
    'Until the account has one, its access tokens only allow enrolment, reading the account and signing out.',
  errors: ['service_account'],
});

export const adminWaiveSecondFactor = change('adminWaiveSecondFactor', 'waive-second-factor', {
  summary: 'No longer require a second factor',
  description: 'An enrolled second factor stays in force.',
  errors: ['service_account'],
});

export const adminRemoveSecondFactor = change('adminRemoveSecondFactor', 'remove-second-factor', {
  summary: 'Remove a lost second factor',
  description:
    'Also removes its passkeys and recovery codes, ends the account’s sessions and notifies the owner by mail. Rejected for the administrator’s own account. Verify the owner’s identity first: afterwards the password is enough.',
  errors: ['second_factor_not_enrolled', 'own_account', 'service_account'],
});

export const adminSetRole = route('adminSetRole', 'PUT /admin/accounts/:id/role', {
  ...changing,
  summary: 'Give an account a role',
  description: 'In force from the account’s next request, also in existing sessions.',
  ...ofAccount,
  body: { type: 'json', schema: RoleBody },
  success: account,
  errors: ['account_not_found', 'account_unverified', 'last_administrator', 'service_account'],
});

export const adminDeleteAccount = route('adminDeleteAccount', 'DELETE /admin/accounts/:id', {
  ...changing,
  summary: 'Delete an account',
  description: 'Also deletes its sessions and keys; all are rejected after the response. The email is free again.',
  ...ofAccount,
  success: message,
  errors: ['account_not_found', 'last_administrator'],
});

export const adminListSessions = route('adminListSessions', 'GET /admin/accounts/:id/sessions', {
  ...administrator,
  summary: 'List an account’s sessions',
  ...ofAccount,
  success: { status: 200, description: 'Active sessions, newest first', schema: SessionList },
  errors: ['account_not_found', 'service_account'],
});

export const adminEndSession = route('adminEndSession', 'DELETE /admin/accounts/:id/sessions/:sessionId', {
  ...changing,
  summary: 'End an account’s session',
  params: Type.Object({ id: AccountId, sessionId: SessionId }),
  success: message,
  errors: ['account_not_found', 'service_account', 'session_not_found'],
});

export const createFirstAdministrator = route('createFirstAdministrator', 'POST /auth/first-administrator', {
  tag: 'Administration',
  summary: 'Create the first administrator',
  description:
    'Needs the code from the file of `keyreeve admin bootstrap`. It works once, within an hour, while there is no administrator.',
  auth: 'one_time_code',
  body: { type: 'json', schema: FirstAdministratorBody },
  success: { status: 201, description: 'The account; sign in now', schema: FirstAdministrator },
  errors: ['code_invalid', 'email_invalid', 'account_exists', ...newPasswordErrors, 'overloaded'],
});

/** All routes of administration. */
export const adminRoutes = [
  adminListAccounts,
  adminInviteAccount,
  adminGetAccount,
  adminDeleteAccount,
  adminSetRole,
  adminSetLimits,
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
  adminSearchKeys,
  adminFindKey,
  adminCreateManagementKey,
  adminListKeys,
  adminCreateKey,
  adminGetKey,
  adminGetKeyUsage,
  adminGetKeyTokens,
  adminChangeKey,
  adminDeleteKey,
  adminListSessions,
  adminEndSession,
  adminGetOverview,
  adminListAudit,
  adminExportAudit,
  adminListSigningKeys,
  adminRotateSigningKeys,
  adminListMail,
  adminReadOutbox,
  adminTestMail,
  adminReadSettings,
  createFirstAdministrator,
] as const;
