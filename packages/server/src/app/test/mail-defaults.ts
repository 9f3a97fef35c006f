/** The values of the settings of mail, and of storage for backups, that a configuration without them has. */
export const mailDefaults = {
  smtpUrl: undefined,
  mayMailBePlain: false,
  smtpOauthTokenUrl: undefined,
  smtpOauthClientId: undefined,
  smtpOauthClientSecret: undefined,
  smtpOauthScope: undefined,
  mailFrom: undefined,
  mailTemplates: undefined,
  linksUrl: undefined,
  resetLinkTtlSeconds: 600,
  verificationLinkTtlSeconds: 600,
  invitationTtlSeconds: 604_800,
  adminInvitationTtlSeconds: 86_400,
  language: 'en',
  signInUrl: undefined,
  storageEndpoint: undefined,
  storageRegion: 'us-east-1',
  storageAccessKeyId: undefined,
  storageSecretAccessKey: undefined,
} as const;

/** A mail server of a provider that accepts no passwords. */
export const mailWithTokens = {
  KEYREEVE_SMTP_URL: 'smtp://accounts%40example.com@smtp.example.com:587',
  KEYREEVE_MAIL_FROM: 'accounts@example.com',
  KEYREEVE_SMTP_OAUTH_TOKEN_URL: 'https://login.example.com/token',
  KEYREEVE_SMTP_OAUTH_CLIENT_ID: 'keyreeve',
  KEYREEVE_SMTP_OAUTH_CLIENT_SECRET: 'secret',
  KEYREEVE_SMTP_OAUTH_SCOPE: 'mail',
} as const;
