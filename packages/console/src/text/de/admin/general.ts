/** German texts that several pages of administrators use. */
export const general = {
  overview: 'Übersicht',
  accounts: 'Konten',
  keys: 'API-Schlüssel',
  webhooks: 'Webhooks',
  scopes: 'Scopes',
  mail: 'E-Mail',
  signingKeys: 'Signaturschlüssel',
  settings: 'Einstellungen',
  audit: 'Audit-Log',
};
