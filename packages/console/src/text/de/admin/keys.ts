/** German texts of the page about the keys of all accounts. */
export const keys = {
  title: 'API-Schlüssel aller Konten',
  none: 'Keine API-Schlüssel',
  search: 'Name, ID oder …x7Qa',
  owner: 'Besitzer',
  scope: 'Scope',
  unusedSince: 'Nicht benutzt seit',
  expiresBefore: 'Läuft ab vor',
  findTitle: 'Nach Geheimnis suchen',
  findIntro:
    'Geben Sie ein vollständiges Geheimnis ein, zum Beispiel eines aus einem Protokoll, um zu sehen, wem der Schlüssel gehört. Es wird weder gespeichert noch protokolliert. Der Besitzer kann sehen, dass ein Administrator den Schlüssel ermittelt hat.',
  find: 'Schlüssel suchen',
  secrets: {
    current: 'das aktuelle Geheimnis des Schlüssels',
    previous: 'ein früheres Geheimnis des Schlüssels',
    short_lived: 'ein kurzlebiges Geheimnis des Schlüssels',
    leaked: 'ein öffentlich gewordenes Geheimnis des Schlüssels, das eine Meldung beendet hat',
  },
};
