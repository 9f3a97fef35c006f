/** Errors of accounts, passwords and email addresses, and of the administration. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId } from './texts.ts';
import { limits } from '../limits.ts';

const grouped = (value: number): string => value.toLocaleString('en');

export const accountErrors = {
  password_too_short: {
    status: 400,
    title: 'The password is too short',
    meaning: 'A new password must have at least the configured number of characters. Long phrases are good passwords.',
    cause: 'The new password has fewer characters than the operator requires.',
    fix: 'Choose a longer password, for example a phrase of several unrelated words.',
  },
  password_too_long: {
    status: 400,
    title: 'The password is too long',
    meaning: `A password has at most ${grouped(limits.passwordBytesMax)} bytes in UTF-8. A longer one is rejected, never truncated.`,
    cause: 'The new password has more bytes in UTF-8 than allowed.',
    fix: 'Choose a shorter password.',
  },
  password_invalid: {
    status: 400,
    title: 'The password contains a control character',
    meaning: 'A password must not contain control characters, because HTTP Basic cannot transmit them (RFC 7617).',
    cause: 'The new password contains a control character, such as a line break or a tab.',
    fix: 'Remove it. A copied password often includes the end of its line.',
  },
  password_context: {
    status: 400,
    title: 'The password is easy to guess',
    meaning: 'Without the product’s name, the email and repetitions, the password has fewer than eight characters.',
    cause: 'The new password consists mostly of the email, the product’s name or repeated characters.',
    fix: 'Choose a password that is unrelated to the account, for example several unrelated words.',
  },
  password_common: {
    status: 400,
    title: 'The password is too common',
    meaning:
      'The password is on a list of breached or frequent passwords, in any case, or repeats one of them. Choose a phrase of several unrelated words.',
    cause: 'The new password is on a list of breached or frequent passwords, or repeats one of them.',
    fix: 'Choose another password. If you use the rejected one elsewhere, replace it there too.',
  },
  email_invalid: {
    status: 400,
    title: 'The email address is not valid',
    meaning:
      'An email address has one @, an ASCII local part and a domain name. Quoted local parts, comments and IP literals are rejected.',
    cause: 'The text is not an email address of the form that Keyreeve accepts.',
    fix: 'Send an email address such as `ada@example.com`: an ASCII local part, one @ and a domain name.',
  },
  email_wrong: {
    status: 403,
    title: 'The email address is not that of the link',
    meaning:
      'The code is valid, and the email address in the body is not the one that this link needs. A mail scanner that presses the button of the page does not know it. The code stays valid.',
    cause: 'Your page sends no email address that the user has typed, or the user mistyped it.',
    fix: 'Ask the user for the email address at which the mail arrived, and send it. Do not fill it in from the mail or the account.',
  },
  code_invalid: {
    status: 400,
    title: 'The code is not valid',
    meaning:
      'The code is malformed, unknown, expired, already used, replaced by a newer one, or for another purpose. Request another mail.',
    cause: 'The one-time code is malformed, expired, already used, replaced by a newer one or for another purpose.',
    fix: 'Open the link in the newest mail, or request another mail.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is closed',
    meaning:
      'Operators and administrators create the accounts of this installation. An operator opens sign-up with `KEYREEVE_SIGNUP=open`.',
    cause: 'This installation does not accept sign-ups.',
    fix: 'Ask the operator for an account. The operator opens sign-up with `KEYREEVE_SIGNUP=open`.',
  },
  account_not_found: {
    status: 404,
    title: 'No such account',
    meaning: 'No account has this email or id.',
    cause: 'No account has this id or email.',
    fix: checkId,
  },
  account_exists: {
    status: 409,
    title: 'An account with this email exists',
    meaning: 'Emails are compared without regard to case.',
    cause: 'Another account has this email; case does not matter.',
    fix: 'Use the existing account, or another email.',
  },
  last_administrator: {
    status: 409,
    title: 'The account is the last administrator',
    meaning:
      'One administrator must remain. Give another account the role first; it counts once it has a password and is enabled.',
    cause: 'The change would leave the installation without an administrator.',
    fix: 'Give another account the role first. It counts once it has a password and is enabled.',
  },
  administrator_exists: {
    status: 409,
    title: 'An administrator already exists',
    meaning: 'The first administrator is created once. Invite further ones, or give them the role.',
    cause: 'The code of the first administrator is void, because there is an administrator.',
    fix: 'Ask an administrator for an invitation or for the role.',
  },
  mail_not_configured: {
    status: 409,
    title: 'This installation sends no mail',
    meaning: 'This operation needs mail. An operator sets KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM.',
    cause: 'This operation sends mail, and this installation has no mail server.',
    fix: 'The operator sets `KEYREEVE_SMTP_URL` and `KEYREEVE_MAIL_FROM`.',
  },
  email_changed_recently: {
    status: 409,
    title: 'The email address was changed recently',
    meaning: `It was changed within the last ${limits.emailChangeKeptDays} days, possibly by an attacker. Select the recipient of the reset link in the body: {"resetTo": "previous"} restores the previous email address, {"resetTo": "current"} keeps the current one. After several changes \`previous\` also needs \`previousEmail\`: GET /admin/accounts/{id} lists the email addresses.`,
    cause: 'The email of the account was changed in the last 30 days, possibly by an attacker.',
    fix: 'Select the recipient of the reset link in the body: `{"resetTo": "previous"}` or `{"resetTo": "current"}`.',
  },
  email_unconfirmed: {
    status: 409,
    title: 'The email address is not confirmed since a restore',
    meaning: `A restore brought back an email address that the account had changed. It may no longer belong to the owner, so no link is sent there. An operator asks the owner and runs \`keyreeve account confirm-email\`, or another email address is set with PUT /admin/accounts/{id}/email.`,
    cause: 'A restore brought back an email address that the account had changed, and it has not been confirmed since.',
    fix: 'Ask the owner, then have an operator run `keyreeve account confirm-email <account>`, or set another email with PUT /admin/accounts/{id}/email. For `compromised`, `{"resetTo": "previous"}` also works while an earlier email of the account is listed.',
  },
  administrator_protected: {
    status: 409,
    title: 'The account is an administrator',
    meaning:
      'Administrators cannot set the email of another administrator, who changes it with PUT /auth/account/email. An operator sets it with `keyreeve account set-email`.',
    cause: 'The account is an administrator, and administrators cannot set the email of another administrator.',
    fix: 'Have the administrator change it with PUT /auth/account/email, or use `keyreeve account set-email`.',
  },
  own_account: {
    status: 409,
    title: 'Not possible for your own account',
    meaning:
      'Remove your own second factor with DELETE /auth/account/second-factor, which needs the password and a code. Without a code, another administrator or an operator removes it.',
    cause: 'An administrator cannot do this to the administrator’s own account.',
    fix: 'Use the operation under /auth/account, or ask another administrator.',
  },
  account_unverified: {
    status: 409,
    title: 'The email of the account is not verified',
    meaning:
      'Another person may have signed up with it and chosen its password. The account cannot become an administrator or get another email until its email is verified. An invitation of the email address replaces a sign-up.',
    cause: 'The email of the account has not been verified, so another person may have signed up with it.',
    fix: 'Have the owner verify the email first, or send an invitation.',
  },
  account_has_password: {
    status: 409,
    title: 'The account already has a password',
    meaning: 'An invitation is for an account without a password. Send a password reset instead.',
    cause: 'An invitation was requested for an account that has a password.',
    fix: 'Send a password reset instead.',
  },
  signing_key_waiting: {
    status: 409,
    title: 'The next signing key has not been activated yet',
    meaning: `A new signing key is published ${limits.signingKeyLeadSeconds / 60} minutes before it signs. Wait until then, or rotate immediately if a key has leaked.`,
    cause: 'The signing keys were rotated shortly before, and the new key does not sign yet.',
    fix: 'Wait until it is active: see `activatesAt` in `GET /admin/signing-keys`.',
  },
} as const satisfies Record<string, ErrorDefinition>;
