/** German texts of the page about issuers of identity tokens. */
export const issuers = {
  title: 'Aussteller',
  intro: 'API-Schlüssel können Identitätstoken dieser Aussteller vertrauen, statt ein Geheimnis zu haben.',
  none: 'Noch keine Aussteller',
  noneIntro:
    'Fügen Sie den Aussteller Ihres CI-Systems, Clusters oder Cloud-Anbieters hinzu, damit dort kein Geheimnis gespeichert werden muss.',
  add: 'Aussteller hinzufügen',
  change: 'Aussteller ändern',
  preset: 'Vorlage',
  presets: {
    github: 'GitHub Actions',
    gitlab: 'GitLab CI',
    kubernetes: 'Kubernetes',
    google: 'Google Cloud',
    buildkite: 'Buildkite',
  },
  noPreset: 'Ein anderer Aussteller',
  url: 'URL',
  urlHint: 'Der Claim „iss“ seiner Token, Zeichen für Zeichen.',
  more: 'Angenommene Token',
  moreHint: 'Ein leeres Feld hat den Wert der Vorlage.',
  idClaims: 'Claims mit IDs',
  idClaimsHint:
    'JSON-Pointer, einer in jeder Zeile, von Claims, deren Werte nie neu vergeben werden. Ein Schlüssel muss einem davon vertrauen.',
  algorithms: 'Algorithmen',
  lifetime: 'Längste Gültigkeit in Sekunden',
  lifetimeHint: 'Von „iat“ bis „exp“ eines Tokens.',
  replay: 'Ein Token wird angenommen',
  replayHint:
    'Einmal: anhand des Claims „jti“. Programme, die ein Token für längere Zeit erhalten, brauchen die andere Wahl.',
  asPreset: 'Wie in der Vorlage',
  replays: { once: 'Einmal', 'until-exp': 'Bis es abläuft' },
  listClaims: 'Claims, die Listen sind',
  listClaimsHint: 'JSON-Pointer, einer in jeder Zeile. Ein Schlüssel vertraut einem Wert der Liste.',
  jwks: 'Festes JWK-Set',
  jwksHint: 'Für einen Aussteller, den dieser Server nicht erreicht. Sonst ruft der Server die Signaturschlüssel ab.',
  notJson: 'Das ist kein JSON.',
  keys: 'Schlüssel',
  keyCount: (_keys: number, count: string) => `${count} Schlüssel`,
  actionsOf: (url: string) => `Aktionen für ${url}`,
  narrowing:
    'Eine Änderung, mit der weniger Token angenommen werden, macht die kurzlebigen Geheimnisse sofort ungültig, die für Token dieses Ausstellers ausgegeben wurden.',
  saved: (url: string) => `Der Aussteller ${url} wurde gespeichert.`,
  refresh: 'Signaturschlüssel abrufen',
  refreshTitle: 'Die Signaturschlüssel des Ausstellers abrufen?',
  refreshIntro:
    'Für einen Signaturschlüssel, den der Aussteller entfernt hat, zum Beispiel nach einem Leck. Danach nimmt ihn keine Instanz mehr an. Kurzlebige Geheimnisse, die vorher ausgegeben wurden, gelten höchstens 10 Minuten.',
  refreshed: 'Die Signaturschlüssel wurden abgerufen:',
  notFetched:
    'Die Signaturschlüssel konnten nicht abgerufen werden. Bis das gelingt, wird kein Token dieses Ausstellers angenommen.',
  remove: 'Aussteller entfernen',
  removeTitle: 'Den Aussteller entfernen?',
  trusting: (keys: number, count: string) =>
    keys === 0
      ? 'Kein API-Schlüssel vertraut ihm.'
      : keys === 1
        ? '1 API-Schlüssel vertraut ihm.'
        : `${count} API-Schlüssel vertrauen ihm.`,
  removeIntro:
    'Schlüssel, die ihm vertrauen, erhalten keine Geheimnisse mehr, auch wenn Sie den Aussteller wieder hinzufügen. Geheimnisse, die für seine Token ausgegeben wurden, werden auf jeder Instanz sofort abgelehnt.',
  removed: 'Der Aussteller wurde entfernt.',
};
