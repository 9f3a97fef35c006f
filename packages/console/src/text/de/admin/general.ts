/** German texts that several pages of administrators use. */
export const general = {
  overview: 'Übersicht',
  accounts: 'Konten',
  webhooks: 'Webhooks',
  mail: 'E-Mail',
  signingKeys: 'Signaturschlüssel',
  settings: 'Einstellungen',
  audit: 'Audit-Log',
  details: 'Einzelheiten',
  kind: 'Art',
  allKinds: 'Alle Arten',
  attempts: 'Versuche',
  actor: 'Akteur',
  emailOrId: 'E-Mail oder ID',
  newestEvents: 'Neueste Ereignisse',
};
