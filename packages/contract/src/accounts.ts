/** Sign-up, email verification, password reset, and changes to the own account. */
import Type, { type Static } from 'typebox';
import { currentPasswordErrors, newPasswordErrors } from './errors/groups.ts';
import { limits } from './limits.ts';
import { ListedKey } from './api-keys.ts';
import { shownLimits } from './key-limits.ts';
import { languages } from './language.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { CurrentPasswordBody, shownFactors } from './second-factor.ts';
import { AccountId, Email, Instant, Message, orNull, Password, Role, Text } from './schemas.ts';

// JSON Schema cannot express the rules: see password_too_short, password_too_long, password_invalid, password_context, password_common.
const NewPassword = Type.String({ minLength: 1, examples: ['wombat orbit velvet 42'] });
const Code = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The part of the mailed link behind `#`',
  examples: ['krvc_9fK2…'],
});
const RevokeKeys = Type.Boolean({
  description: 'Also delete every API key of the account',
  examples: [false],
});

export const SignUpBody = Named('SignUp', { email: Email, password: NewPassword });
export const EmailBody = Named('EmailRequest', { email: Email });
export const CodeAndPasswordBody = Named('EmailConfirmation', { code: Code, password: Password });
export const ResetBody = Named('PasswordReset', {
  code: Code,
  password: NewPassword,
  revokeKeys: Type.Optional(RevokeKeys),
});
export const InvitationBody = Named('InvitationAcceptance', { code: Code, password: NewPassword });
// Scanners of mail gateways press buttons, but do not type an email address.
const TypedEmail = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: limits.emailCharsMax,
    description: `${description} The user types it`,
    examples: ['ada@example.com'],
  });
export const AcceptEmailBody = Named('EmailAcceptance', {
  code: Code,
  email: TypedEmail('The new or the current email address.'),
});
export const UndoEmailChangeBody = Named('EmailChangeUndo', {
  code: Code,
  email: TypedEmail('The previous email address.'),
  revokeKeys: Type.Optional(RevokeKeys),
});
export const ChangePasswordBody = Named('PasswordChange', {
  currentPassword: Password,
  newPassword: NewPassword,
  revokeKeys: Type.Optional(RevokeKeys),
});
export const ChangeEmailBody = Named('EmailChange', { email: Email, currentPassword: Password });

const Language = Type.Enum([...languages], { description: 'Language of the account’s mail', examples: ['en'] });
export const LanguageBody = Named('LanguageChange', { language: Language });

export const MessageAndKeys = Named('RemainingApiKeys', {
  message: Text('The new password is in force.'),
  apiKeys: Type.Array(ListedKey, { description: 'The keys that continue to work, oldest first' }),
});
export type MessageAndKeys = Static<typeof MessageAndKeys>;

export const RemainingPasskey = Named('RemainingPasskey', { name: Text('laptop'), createdAt: Instant });
export const RemainingFactors = Named(
  'RemainingSecondFactors',
  {
    authenticator: Type.Boolean({ description: 'Whether an authenticator app is enrolled' }),
    passkeys: Type.Array(RemainingPasskey, { description: 'Oldest first' }),
    recoveryCodes: Type.Integer({ minimum: 0, description: 'Number of unused recovery codes', examples: [10] }),
  },
  { description: 'Second factors that stay in force. A sign-in with one of them permits removing the others' },
);
export const MessageAndCredentials = Named('RemainingCredentials', {
  ...MessageAndKeys.properties,
  secondFactors: RemainingFactors,
});
export type MessageAndCredentials = Static<typeof MessageAndCredentials>;

export const OwnAccount = Named(
  'Account',
  {
    id: AccountId,
    email: Text('ada@example.com'),
    role: Role,
    createdAt: Instant,
    verified: Type.Boolean({ description: 'Whether the email address is verified' }),
    secondFactor: Type.Boolean({ description: 'Whether a second factor is enrolled' }),
    ...shownFactors,
    requiresSecondFactor: Type.Boolean({ description: 'Whether an operator requires one' }),
    language: orNull(Language),
    ...shownLimits,
  },
  { description: '`limits`: all API keys of the account share them; an administrator sets them' },
);
export type OwnAccount = Static<typeof OwnAccount>;

const open = { tag: 'Accounts', auth: 'none' } as const;
const byCode = { tag: 'Accounts', auth: 'one_time_code' } as const;
const own = { tag: 'Accounts', auth: 'access_token' } as const;
export const signUp = route('signUp', 'POST /auth/accounts', {
  ...open,
  summary: 'Sign up',
  description:
    'The response and its time are the same whether or not the email has an account. Until the email is verified, a sign-in with this password is rejected.',
  body: { type: 'json', schema: SignUpBody },
  success: { status: 202, description: 'A mail follows', schema: Message },
  errors: ['signup_closed', 'email_invalid', ...newPasswordErrors, 'too_many_requests', 'overloaded'],
});

export const verifyAccount = route('verifyAccount', 'POST /auth/accounts/verify', {
  ...byCode,
  summary: 'Verify the email of a sign-up',
  description:
    'Needs the code from the mail and the password of that sign-up. Removes the account’s earlier sessions, keys, second factors and other codes. A wrong password leaves the code valid.',
  body: { type: 'json', schema: CodeAndPasswordBody },
  success: { status: 200, description: 'Verified; sign in now', schema: Message },
  errors: ['code_invalid', 'invalid_credentials', 'too_many_attempts', 'too_many_requests', 'overloaded'],
});

export const resendVerification = route('resendVerification', 'POST /auth/accounts/verify/resend', {
  ...open,
  summary: 'Request the mail of a sign-up or an invitation again',
  description:
    'For the newest sign-up with this email in the last 24 hours, or for an invitation that was not accepted. The response is the same for any email.',
  body: { type: 'json', schema: EmailBody },
  success: { status: 202, description: 'A mail follows if there is such a sign-up or invitation', schema: Message },
  errors: ['email_invalid', 'too_many_requests', 'mail_not_configured'],
});

export const requestPasswordReset = route('requestPasswordReset', 'POST /auth/password-resets', {
  ...open,
  summary: 'Request a password reset',
  description:
    'The response and its time are the same whether or not the email has an account. The link in the mail is by default valid for 10 minutes after the mail is handed over.',
  body: { type: 'json', schema: EmailBody },
  isNarrowing: true,
  success: { status: 202, description: 'A mail follows if the email has an account', schema: Message },
  errors: ['email_invalid', 'too_many_requests', 'mail_not_configured'],
});

export const confirmPasswordReset = route('confirmPasswordReset', 'POST /auth/password-resets/confirm', {
  ...byCode,
  summary: 'Set a new password with the code from the mail',
  description:
    'Ends all sessions and verifies the email. Does not sign in. Second factors stay in force, and API keys continue to work unless `revokeKeys` is true; the response lists both.',
  body: { type: 'json', schema: ResetBody },
  isNarrowing: true,
  success: { status: 200, description: 'The new password is in force', schema: MessageAndCredentials },
  errors: ['code_invalid', ...newPasswordErrors, 'too_many_requests', 'overloaded'],
});

export const acceptInvitation = route('acceptInvitation', 'POST /auth/accounts/accept-invitation', {
  ...byCode,
  summary: 'Accept an invitation',
  description: 'Sets the password of an invited account and verifies its email.',
  body: { type: 'json', schema: InvitationBody },
  success: { status: 200, description: 'The account is ready; sign in now', schema: Message },
  errors: ['code_invalid', ...newPasswordErrors, 'too_many_requests', 'overloaded'],
});

export const getOwnAccount = route('getOwnAccount', 'GET /auth/account', {
  ...own,
  summary: 'Read your account',
  isOpenBeforeEnrolment: true,
  success: { status: 200, description: 'The account', schema: OwnAccount },
});

export const changeLanguage = route('changeLanguage', 'PUT /auth/account/language', {
  ...own,
  summary: 'Choose the language of mail',
  description: 'The sign-up’s `Accept-Language` sets the first language. Without one, `KEYREEVE_LANGUAGE` applies.',
  body: { type: 'json', schema: LanguageBody },
  success: { status: 204, description: 'The language is set' },
  errors: ['too_many_requests'],
});

export const changePassword = route('changePassword', 'PUT /auth/account/password', {
  ...own,
  summary: 'Change the password',
  description:
    'Ends every other session; the current one continues with its tokens. API keys continue to work unless `revokeKeys` is true; the response lists them.',
  body: { type: 'json', schema: ChangePasswordBody },
  isNarrowing: true,
  success: { status: 200, description: 'The new password is in force', schema: MessageAndKeys },
  errors: [...currentPasswordErrors, ...newPasswordErrors, 'too_many_requests'],
});

export const changeEmail = route('changeEmail', 'PUT /auth/account/email', {
  ...own,
  summary: 'Request a change of the email',
  description:
    'Both email addresses receive a mail; the one to the new email address has a link that confirms the change. The response is the same when another account has the new email address.',
  needsRecentSignIn: true,
  body: { type: 'json', schema: ChangeEmailBody },
  success: { status: 202, description: 'A mail to the new address follows', schema: Message },
  errors: [...currentPasswordErrors, 'email_invalid', 'too_many_requests', 'mail_not_configured'],
});

export const confirmEmailChange = route('confirmEmailChange', 'POST /auth/account/email/confirm', {
  ...byCode,
  summary: 'Confirm a change of the email',
  description:
    'Needs the code from the mail to the new email address and the account’s password. Ends all sessions and voids all other codes. A wrong password leaves the code valid.',
  body: { type: 'json', schema: CodeAndPasswordBody },
  success: { status: 200, description: 'The account has the new email', schema: Message },
  errors: [
    'code_invalid',
    'invalid_credentials',
    'account_exists',
    'too_many_attempts',
    'too_many_requests',
    'overloaded',
  ],
});

export const undoEmailChange = route('undoEmailChange', 'POST /auth/account/email/undo', {
  ...byCode,
  summary: 'Undo a change of the email',
  description: `Needs the code from the mail to the previous email address, valid for ${limits.emailUndoSeconds / 86_400} days, and that email address, typed by the user: mail scanners press buttons. Restores it, undoes every later change, voids the password, ends all sessions, and mails a link to set a new password. Removes the second factors and API keys added since or in the ${limits.emailUndoSuspectDays} days before it; for keys, a change or rotation counts too. Those from before the change stay if they were used from a client IP range that was trusted earlier. \`revokeKeys\` deletes all keys. The response lists what stays. \`account_exists\`: another account has verified the address; the code stays valid.`,
  isNarrowing: true,
  body: { type: 'json', schema: UndoEmailChangeBody },
  success: { status: 200, description: 'The account has its previous email', schema: MessageAndCredentials },
  errors: ['code_invalid', 'email_wrong', 'account_exists', 'too_many_requests'],
});

export const acceptEmail = route('acceptEmail', 'POST /auth/account/email/accept', {
  ...byCode,
  summary: 'Accept an email that an administrator or an operator has set',
  description:
    'Needs the code from the mail to the new email address, and the new or the current email address, typed by the user. Ends all sessions and voids all other codes; the password stays the same.',
  isNarrowing: true,
  body: { type: 'json', schema: AcceptEmailBody },
  success: { status: 200, description: 'The account has the new email', schema: Message },
  errors: ['code_invalid', 'email_wrong', 'account_exists', 'too_many_requests'],
});

export const deleteAccount = route('deleteAccount', 'DELETE /auth/account', {
  ...own,
  summary: 'Delete your account',
  description:
    'Also deletes its sessions and API keys: every verification that starts after the response is rejected. The email is free again. Cannot be undone.',
  needsRecentSignIn: true,
  body: { type: 'json', schema: CurrentPasswordBody },
  isNarrowing: true,
  success: { status: 204, description: 'The account has been deleted' },
  errors: [...currentPasswordErrors, 'last_administrator'],
});
