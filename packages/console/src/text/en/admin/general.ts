/** English texts that several pages of administrators use. */
export const general = {
  overview: 'Overview',
  accounts: 'Accounts',
  keys: 'API keys',
  webhooks: 'Webhooks',
  scopes: 'Scopes',
  mail: 'Mail',
  signingKeys: 'Signing keys',
  settings: 'Settings',
  audit: 'Audit log',
};
