/** Which settings of mail belong together. */
import { isLoopback } from '../../foundation/ip-address.ts';
import type { LinkLifetimes } from '../../modules/mail/links.ts';
import type { mailSettings } from './mail-settings.ts';

type Settings = typeof mailSettings;
/** The part of the configuration that mail depends on. */
type Values = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> };

export const lifetimesOf = (config: Values): LinkLifetimes => ({
  reset: config.resetLinkTtlSeconds,
  verification: config.verificationLinkTtlSeconds,
  invitation: config.invitationTtlSeconds,
  adminInvitation: config.adminInvitationTtlSeconds,
});

/** @returns undefined unless all settings are set */
export function smtpOauthOf({
  smtpOauthTokenUrl: tokenUrl,
  smtpOauthClientId: clientId,
  smtpOauthClientSecret: clientSecret,
  smtpOauthScope: scope,
}: Values) {
  return tokenUrl && clientId && clientSecret && scope ? { tokenUrl, clientId, clientSecret, scope } : undefined;
}

/** @returns what is wrong with settings that are each valid */
export function mailMistakes(
  config: Values & { readonly isSignUpOpen: boolean; readonly hasManagementKeys: boolean },
): string[] {
  const { smtpUrl, mailFrom, smtpOauthTokenUrl, smtpOauthClientId, smtpOauthClientSecret, smtpOauthScope } = config;
  const mistakes: string[] = [];
  if ((smtpUrl === undefined) !== (mailFrom === undefined))
    mistakes.push('KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM must both be set, or neither');
  if (config.isSignUpOpen && smtpUrl === undefined)
    mistakes.push('KEYREEVE_SIGNUP can be open only with KEYREEVE_SMTP_URL: an email address is verified by mail');
  if (config.hasManagementKeys && smtpUrl === undefined)
    mistakes.push('KEYREEVE_CONSOLE_MANAGEMENT_KEYS can be on only with KEYREEVE_SMTP_URL: administrators get a mail');
  const together = [smtpOauthTokenUrl, smtpOauthClientId, smtpOauthClientSecret, smtpOauthScope];
  if (together.every((value) => value === undefined)) return mistakes;
  if (!smtpOauthOf(config))
    mistakes.push(
      'KEYREEVE_SMTP_OAUTH_TOKEN_URL, KEYREEVE_SMTP_OAUTH_CLIENT_ID, KEYREEVE_SMTP_OAUTH_CLIENT_SECRET and KEYREEVE_SMTP_OAUTH_SCOPE must all be set, or none of them',
    );
  const url = smtpUrl === undefined ? undefined : new URL(smtpUrl);
  if (!url?.username || url.password !== '')
    mistakes.push(
      'KEYREEVE_SMTP_OAUTH_TOKEN_URL needs a user name without a password in KEYREEVE_SMTP_URL: smtp://user%40example.com@smtp.example.com:587',
    );
  return mistakes;
}

/** @returns sentences that begin with the name of the setting */
export function mailWarnings({ smtpUrl, mayMailBePlain }: Values): readonly string[] {
  if (smtpUrl === undefined || !mayMailBePlain) return [];
  const { protocol, hostname } = new URL(smtpUrl);
  if (protocol === 'smtps:' || isLoopback(hostname.replaceAll(/[[\]]/g, ''))) return [];
  return [
    'KEYREEVE_SMTP_WITHOUT_TLS is accept: everyone on the network between Keyreeve and the mail server may read mail, whose links set passwords, and the password of KEYREEVE_SMTP_URL',
  ];
}
