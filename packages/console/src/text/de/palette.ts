/** German texts of the command palette. */
export const palette = {
  label: 'Seite oder API-Schlüssel',
  labelOfAdministrators: 'Seite, API-Schlüssel oder Konto, mit Name, ID oder E-Mail-Adresse',
  pages: 'Seiten',
  results: 'Ergebnisse',
  more: 'Alle anzeigen',
  slash: 'Die Taste / öffnet diese Suche',
  count: (entries: number) => (entries === 1 ? '1 Eintrag' : `${entries} Einträge`),
};
