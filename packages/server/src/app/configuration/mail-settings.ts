/** The settings of mail and of the links in it. Part of the table in settings.ts. */
import { languages } from '@keyreeve/contract';
import { flag, folder, integer, linksUrl, mailFrom, oneOf, optional, shortText } from './config-values.ts';
import { clientSecretOrKey, protectedUrl, smtpUrl } from './mail-values.ts';
import { setting } from './setting.ts';

export const mailSettings = {
  smtpUrl: setting(
    'KEYREEVE_SMTP_URL',
    '',
    'The [mail server](mail.md): `smtps://user:password@host:465` (TLS) or `smtp://user:password@host:587` (STARTTLS). Percent-encode special characters. Without it, no mail is sent.',
    optional(smtpUrl),
    { isSecret: true },
  ),
  mayMailBePlain: setting(
    'KEYREEVE_SMTP_WITHOUT_TLS',
    'refuse',
    '`accept`: no TLS for a mail server with a private IP address. Everyone on that network can read mail, whose links set passwords.',
    flag('accept', ['refuse', 'accept']),
  ),
  smtpOauthTokenUrl: setting(
    'KEYREEVE_SMTP_OAUTH_TOKEN_URL',
    '',
    'For XOAUTH2 ([Exchange Online, Google](mail.md#exchange-online-and-google)): the token endpoint. Set client and scope with it.',
    optional(protectedUrl),
  ),
  smtpOauthClientId: setting(
    'KEYREEVE_SMTP_OAUTH_CLIENT_ID',
    '',
    'Id of the client for XOAUTH2, or email address of a service account of Google.',
    optional(shortText),
  ),
  smtpOauthClientSecret: setting(
    'KEYREEVE_SMTP_OAUTH_CLIENT_SECRET',
    '',
    'Secret of the client for XOAUTH2, or private key of the service account in PEM.',
    optional(clientSecretOrKey),
    { isSecret: true },
  ),
  smtpOauthScope: setting(
    'KEYREEVE_SMTP_OAUTH_SCOPE',
    '',
    'Scope of the access token for XOAUTH2.',
    optional(shortText),
  ),
  mailFrom: setting('KEYREEVE_MAIL_FROM', '', 'Sender, such as `Example <accounts@example.com>`.', optional(mailFrom)),
  mailTemplates: setting(
    'KEYREEVE_MAIL_TEMPLATES',
    '',
    'Folder with [templates](mail.md#templates-of-your-own) of your own.',
    optional(folder),
  ),
  linksUrl: setting(
    'KEYREEVE_LINKS_URL',
    '',
    'Base URL of links in mail. Default: the pages of the service.',
    optional(linksUrl),
  ),
  resetLinkTtlSeconds: setting(
    'KEYREEVE_RESET_TTL_SECONDS',
    '600',
    '[Validity](mail.md#how-long-links-are-valid) of a link that sets a new password.',
    integer(60, 3_600),
  ),
  verificationLinkTtlSeconds: setting(
    'KEYREEVE_VERIFICATION_TTL_SECONDS',
    '600',
    'Validity of a link that completes a sign-up.',
    integer(60, 3_600),
  ),
  invitationTtlSeconds: setting(
    'KEYREEVE_INVITE_TTL_SECONDS',
    '604800',
    'Validity of an invitation (7 days).',
    integer(600, 2_592_000),
  ),
  adminInvitationTtlSeconds: setting(
    'KEYREEVE_ADMIN_INVITE_TTL_SECONDS',
    '86400',
    'Validity of the invitation of an administrator (24 hours).',
    integer(600, 604_800),
  ),
  language: setting(
    'KEYREEVE_LANGUAGE',
    'en',
    `Default language of mail and its pages: ${languages.join(', ')}.`,
    oneOf(languages),
  ),
  signInUrl: setting(
    'KEYREEVE_SIGN_IN_URL',
    '',
    'Your sign-in page, to which the pages of links in mail lead. Default: that of the console.',
    optional(linksUrl),
  ),
} as const;
