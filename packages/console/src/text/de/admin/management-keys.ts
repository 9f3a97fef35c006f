/** German texts of the keys that administrators create. */
import type { AdminTexts } from '../../texts.ts';

export const managementKeys: AdminTexts['managementKeys'] = {
  create: 'Verwaltungsschlüssel erstellen',
  intro:
    'Mit einem Verwaltungsschlüssel erstellt Ihr Backend Dienstkonten und API-Schlüssel für Ihre Kunden. Wer den Schlüssel stiehlt, kann dasselbe tun. Deshalb gilt er nur von den IP-Adressen Ihres Backends aus und nur für begrenzte Zeit.',
  name: 'Name des Backends',
  nameHint: 'So heißen das neue Dienstkonto und sein Schlüssel, zum Beispiel „Shop“.',
  nicknameHint:
    'Zum Beispiel „Shop, ab März“. Löschen Sie den früheren Schlüssel, sobald Ihr Backend diesen verwendet.',
  addressesHint: 'Die IP-Adressen und CIDR-Bereiche Ihres Backends, je Zeile eine Angabe.',
  mailed: 'Administratoren erhalten eine E-Mail über den Schlüssel, mit Ihrer E-Mail-Adresse und IP-Adresse.',
  needsFactor:
    'Nur Administratoren mit einem zweiten Faktor erstellen Verwaltungsschlüssel. Richten Sie zuerst Ihren zweiten Faktor ein.',
  setUpFactor: 'Zweiten Faktor einrichten',
  created: 'Der neue Verwaltungsschlüssel',
  tryHint: 'Führen Sie den Befehl auf dem Rechner Ihres Backends aus. Er listet die Dienstkonten des Backends auf.',
  waiting: 'Warten auf die erste Verwendung…',
  used: 'Der Schlüssel wurde verwendet.',
  ofPerson:
    'Die Person erhält eine E-Mail mit Ihrer E-Mail-Adresse und kann den Schlüssel löschen. Nur Sie sehen das Geheimnis, einmal. Geben Sie es der Person auf sicherem Weg.',
};
