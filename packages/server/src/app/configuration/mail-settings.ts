/** The settings of mail and of the links in it. Part of the table in settings.ts. */
import { languages } from '@keyreeve/contract';
import { flag, folder, integer, linksUrl, mailFrom, oneOf, optional, shortText } from './config-values.ts';
import { clientSecretOrKey, protectedUrl, smtpUrl } from './mail-values.ts';
import { setting } from './setting.ts';

export const mailSettings = {
  smtpUrl: setting(
    'KEYREEVE_SMTP_URL',
    '',
    'The mail server: `smtps://user:password@host:465` (TLS) or `smtp://user:password@host:587` (STARTTLS, required except on this machine). Percent-encode special characters in the user name and password: `%23` for `#`, `%40` for `@`. Without it, no mail is sent.',
    optional(smtpUrl),
    { isSecret: true },
  ),
  mayMailBePlain: setting(
    'KEYREEVE_SMTP_WITHOUT_TLS',
    'refuse',
    '`accept`: a mail server with a private IP address needs no TLS, and its certificate is not verified. STARTTLS is still used if the server offers it. Everyone on that network can read mail, whose links set passwords.',
    flag('accept', ['refuse', 'accept']),
  ),
  smtpOauthTokenUrl: setting(
    'KEYREEVE_SMTP_OAUTH_TOKEN_URL',
    '',
    'For a mail server that accepts no passwords, such as [Exchange Online or Google](mail.md#exchange-online-and-google): the token endpoint of its provider. The sign-in is then XOAUTH2 with the user name of `KEYREEVE_SMTP_URL`. The next three settings must be set with it.',
    optional(protectedUrl),
  ),
  smtpOauthClientId: setting(
    'KEYREEVE_SMTP_OAUTH_CLIENT_ID',
    '',
    'The id of Keyreeve’s client at that provider, or the email address of a service account of Google.',
    optional(shortText),
  ),
  smtpOauthClientSecret: setting(
    'KEYREEVE_SMTP_OAUTH_CLIENT_SECRET',
    '',
    'The secret of that client, or the private key of the service account in PEM.',
    optional(clientSecretOrKey),
    { isSecret: true },
  ),
  smtpOauthScope: setting(
    'KEYREEVE_SMTP_OAUTH_SCOPE',
    '',
    'The scope of the access token, for example `https://outlook.office365.com/.default` or `https://mail.google.com/`.',
    optional(shortText),
  ),
  mailFrom: setting(
    'KEYREEVE_MAIL_FROM',
    '',
    'Sender of mail, for example `Example <accounts@example.com>`.',
    optional(mailFrom),
  ),
  mailTemplates: setting(
    'KEYREEVE_MAIL_TEMPLATES',
    '',
    'Folder with [templates](mail.md) that replace the built-in ones of the same name.',
    optional(folder),
  ),
  linksUrl: setting(
    'KEYREEVE_LINKS_URL',
    '',
    'Base URL of the links in mail, for example `https://example.com/account`. Default: the pages of the service.',
    optional(linksUrl),
  ),
  resetLinkTtlSeconds: setting(
    'KEYREEVE_RESET_TTL_SECONDS',
    '600',
    'Validity of a link that sets a new password, from the time when the mail is handed over to the mail server.',
    integer(60, 3_600),
  ),
  verificationLinkTtlSeconds: setting(
    'KEYREEVE_VERIFICATION_TTL_SECONDS',
    '600',
    'The same for a link that completes a sign-up.',
    integer(60, 3_600),
  ),
  invitationTtlSeconds: setting(
    'KEYREEVE_INVITE_TTL_SECONDS',
    '604800',
    'The same for an invitation (7 days).',
    integer(600, 2_592_000),
  ),
  adminInvitationTtlSeconds: setting(
    'KEYREEVE_ADMIN_INVITE_TTL_SECONDS',
    '86400',
    'The same for the invitation of an administrator (24 hours).',
    integer(600, 604_800),
  ),
  language: setting(
    'KEYREEVE_LANGUAGE',
    'en',
    `Default language of mail and of the pages that its links open: ${languages.join(', ')}.`,
    oneOf(languages),
  ),
  signInUrl: setting(
    'KEYREEVE_SIGN_IN_URL',
    '',
    'Your sign-in page, for example `https://example.com/sign-in`. The pages that mail links open lead to it.',
    optional(linksUrl),
  ),
} as const;
