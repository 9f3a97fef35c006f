/** German texts about the rotation of secrets. */
export const rotation = {
  /** For a key with a trust, which has no secret. */
  rotateTrust: 'Vertrauen ändern',
  overlaps: { day: 'In 24 Stunden', hour: 'In 1 Stunde', week: 'In 7 Tagen', now: 'Jetzt' },
  rotated: 'Das neue Geheimnis',
  rotateIntro: 'Der Schlüssel behält seine Einstellungen und erhält ein neues Geheimnis. Aktuelles Geheimnis:',
  oldEnds: 'Das alte Geheimnis wird ungültig',
  onlyCompromised: 'Nur wenn Unbefugte es haben: Programme, die es verwenden, werden sofort abgelehnt.',
  overlapInProgress: (end: string) =>
    `Das Geheimnis vor der letzten Erneuerung gilt bis ${end}. Diese Erneuerung macht es sofort ungültig.`,
  lost: 'Kein Programm hat das aktuelle Geheimnis: nur dieses ersetzen und das davor behalten.',
  newSecret: 'Neues Geheimnis',
  oldSecret: 'Altes Geheimnis',
  validUntil: (end: string) => `gilt bis ${end}`,
  hasEnded: 'ist ungültig',
};
