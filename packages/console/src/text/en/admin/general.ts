/** English texts that several pages of administrators use. */
export const general = {
  overview: 'Overview',
  accounts: 'Accounts',
  webhooks: 'Webhooks',
  mail: 'Mail',
  signingKeys: 'Signing keys',
  settings: 'Settings',
  audit: 'Audit log',
  details: 'Details',
  kind: 'Kind',
  allKinds: 'All kinds',
  attempts: 'Attempts',
  actor: 'Actor',
  emailOrId: 'email or ID',
  newestEvents: 'Newest events',
};
