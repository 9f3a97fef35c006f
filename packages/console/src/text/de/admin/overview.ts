/** German texts of the overview. */
import type { AdminTexts } from '../../texts.ts';

export const overview: AdminTexts['overview'] = {
  intro: 'Was alle Prozesse dieser Installation in den letzten 60 Minuten taten.',
  live: 'Live',
  paused: 'Angehalten',
  outdated: 'Nicht aktuell',
  asOf: (time) => `Stand ${time}`,
  pause: 'Anhalten',
  resume: 'Fortsetzen',

  attention: 'Braucht Aufmerksamkeit',
  nothing: 'Nichts braucht Aufmerksamkeit',
  since: 'seit',
  checksFailed: (count) =>
    count === 1
      ? 'Eine Prüfung der Installation ist fehlgeschlagen.'
      : `${count} Prüfungen der Installation sind fehlgeschlagen.`,
  checkWarnings: (count) =>
    count === 1
      ? 'Eine Prüfung der Installation hat eine Warnung.'
      : `${count} Prüfungen der Installation haben Warnungen.`,
  processesMissing: (count) =>
    count === 1
      ? 'Ein Prozess endete, ohne herunterzufahren, und kein anderer hat ihn ersetzt.'
      : `${count} Prozesse endeten, ohne herunterzufahren, und keine anderen haben sie ersetzt.`,
  jobsFailing: (count, kind) => `Aufträge schlagen fehl und werden wiederholt: ${kind} (${count}).`,
  jobsLate: (count, kind) => `Aufträge warten länger als 15 Minuten: ${kind} (${count}).`,
  webhookFailing: 'Die letzte Zustellung eines Webhooks ist fehlgeschlagen.',
  signingKeyOld: 'Der Signaturschlüssel ist seit mehr als 180 Tagen in Gebrauch. Wechseln Sie ihn.',
  other: 'Die Installation braucht Aufmerksamkeit.',

  rate: 'Prüfungen pro Sekunde',
  inHour: (count) => `${count} in 60 Minuten`,
  refusedShare: 'Abgelehnt',
  ofAll: (count, total) => `${count} von ${total}`,
  verificationTime: 'Dauer einer Prüfung (p50)',
  databaseTime: 'Dauer der Datenbank (p50)',
  p99: (bound) => `p99 ${bound}, letzte 5 Minuten`,
  noDuration: 'keine in den letzten 5 Minuten',
  atMost: (duration) => `≤ ${duration}`,
  above: (duration) => `> ${duration}`,
  refusedSignIns: (count) => `${count} abgelehnt`,
  hashesWaiting: 'Wartende Passwort\u00ADprüfungen',
  hashes: (running, refused) => `${running} laufen, ${refused} abgelehnt`,

  verifications: 'Prüfungen von Schlüsseln und Token',
  minute: 'Minute',
  noVerifications: 'Keine Prüfungen in den letzten 60 Minuten.',
  usage: (total, refused, peak, at) =>
    `${total} Prüfungen in 60 Minuten, davon ${refused} abgelehnt. Die meisten in einer Minute: ${peak} (${at}).`,
  count: 'In 60 Minuten',
  course: 'Nach Minute',
  courseOf: (result) => `${result}, nach Minute`,
  acceptedCredentials: 'Angenommen nach Art',
  credential: 'Art',
  credentials: { api_key: 'API-Schlüssel', access_token: 'Zugriffstoken' },
  refusals: 'Ablehnungen nach Grund',
  reason: 'Grund',
  reasons: {
    malformed: 'Kein Schlüssel oder Token',
    wrong_kind: 'Falsche Art',
    not_found: 'Gelöscht, beendet oder unbekannt',
    expired: 'Abgelaufen',
    disabled: 'Schlüssel deaktiviert oder Konto gesperrt',
    wrong_environment: 'Falsche Umgebung',
    address_required: 'Client-IP nicht angegeben',
    address_not_allowed: 'Client-IP nicht erlaubt',
    insufficient_scope: 'Scope fehlt',
    rate_limited: 'Ratenlimit erreicht',
    quota_exceeded: 'Kontingent verbraucht',
    enrolment_required: 'Zweiter Faktor nicht eingerichtet',
  },
  signIns: 'Anmeldungen',
  result: 'Ergebnis',
  signInResults: {
    accepted: 'Angenommen',
    refused: 'Abgelehnt',
    limited: 'Ratenlimit erreicht',
    overloaded: 'Server überlastet',
  },

  jobs: 'Wartende Aufträge',
  waiting: 'Wartend',
  oldest: 'Ältester',
  processes: 'Prozesse',
  process: 'Prozess',
  version: 'Version',
  running: 'Läuft',
  ended: 'Nicht gesehen',
  started: 'Gestartet',
  seen: 'Zuletzt gesehen',
  noEvents: 'Das Audit-Log hat keine Ereignisse.',
};
