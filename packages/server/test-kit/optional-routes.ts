/** No server listens there. */
export const unreachableMail = {
  KEYREEVE_SMTP_URL: 'smtp://127.0.0.1:1',
  KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
} as const;

/** Settings with which the service has every route of the contract. */
export const optionalRoutes = {
  KEYREEVE_GITHUB_SCANNING: 'on',
  KEYREEVE_LEAK_REPORTS: 'on',
  KEYREEVE_CONSOLE_MANAGEMENT_KEYS: 'on',
  ...unreachableMail,
  // No server listens there: the start of a single sign-on fails with 503.
  KEYREEVE_SSO_ISSUER: 'http://127.0.0.1:1',
  KEYREEVE_SSO_CLIENT_ID: 'keyreeve',
  KEYREEVE_SSO_CLIENT_SECRET: 'secret',
  KEYREEVE_SSO_ADMIN_CLAIM: 'groups',
  KEYREEVE_SSO_ADMIN_VALUE: 'keyreeve-admins',
} as const;
