/** German texts of the page about programs that sign in people from a command line. */
export const programs = {
  title: 'Programme',
  intro:
    'Kommandozeilen und Geräte, die Personen zur Konsole schicken und einen API-Schlüssel erhalten, wenn diese zustimmen.',
  none: 'Noch keine Programme',
  noneIntro: 'Deklarieren Sie Ihre Kommandozeile, damit sich Personen damit anmelden, ohne ein Geheimnis zu kopieren.',
  add: 'Programm hinzufügen',
  change: 'Programm ändern',
  id: 'ID',
  idHint: 'Die client_id seiner Anfragen, zum Beispiel acme-cli. Sie ändert sich nie.',
  name: 'Name',
  nameHint: 'Diesen Namen sehen Personen, die es genehmigen. Er ist auch der vorgeschlagene Name seiner Schlüssel.',
  lifetime: 'Längste Gültigkeit',
  lifetimeOfKeys: 'Längste Gültigkeit seiner Schlüssel',
  lapsed:
    'Eine Wiederherstellung hat seine Einstellungen entfernt. Niemand kann es genehmigen, bis Sie sie wieder speichern.',
  lapsedBadge: 'Einstellungen fehlen',
  keys: 'Schlüssel',
  keyCount: (_keys: number, count: string) => `${count}\u00A0Schlüssel`,
  actionsOf: (name: string) => `Aktionen für ${name}`,
  narrowing:
    'Weniger Scopes oder eine kürzere Gültigkeit gelten für neue Schlüssel, auch für solche, die genehmigt sind und die das Programm noch nicht abgeholt hat. Andere Schlüssel ändern sich nicht.',
  saved: (name: string) => `Das Programm ${name} wurde gespeichert.`,
  remove: 'Programm entfernen',
  removeTitle: 'Das Programm entfernen?',
  made: (keys: number, count: string) =>
    keys === 0
      ? 'Es hat keine API-Schlüssel.'
      : keys === 1
        ? '1 API-Schlüssel stammt von ihm.'
        : `${count} API-Schlüssel stammen von ihm.`,
  removeIntro: 'Niemand kann sich mehr damit anmelden, und seine offenen Anfragen enden sofort.',
  deleteKeys: 'Auch seine API-Schlüssel löschen',
  deleteKeysHint:
    'Jeder davon wird auf jeder Instanz sofort abgelehnt. Sonst bleiben sie gültig, bis sie ablaufen. Sie können sie auch später löschen.',
  removed: 'Das Programm wurde entfernt.',
  removedBadge: 'Entfernt',
  ofRemoved: {
    remove: 'API-Schlüssel löschen',
    removeTitle: 'Die API-Schlüssel löschen?',
    removeIntro: 'Jeder davon wird auf jeder Instanz sofort abgelehnt.',
    removed: 'Die API-Schlüssel wurden gelöscht.',
  },
};
