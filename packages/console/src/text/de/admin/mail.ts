/** German texts of the page about mail and other jobs of the outbox. */
import type { AdminTexts } from '../../texts.ts';

export const mail: AdminTexts['mail'] = {
  intro: 'E-Mails und Webhooks, die noch nicht zugestellt sind. Der Server wiederholt fehlgeschlagene.',
  test: 'Test-E-Mail senden',
  testIntro: 'Der Server sendet eine E-Mail an Ihre eigene Adresse und zeigt die Antwort des Mailservers.',
  testSubmit: 'Senden',
  sent: (to) => `Der Mailserver hat eine E-Mail an ${to} angenommen:`,
  notSent: (to) => `Die E-Mail an ${to} konnte nicht gesendet werden:`,
  kinds: {
    mail: 'E-Mail',
    decoy: 'Scheinauftrag ohne E-Mail',
    sign_up: 'Registrierung',
    password_reset: 'Zurücksetzen des Passworts',
    webhook: 'Webhook',
  },
  states: { waiting: 'Wartet', failing: 'Schlägt fehl' },
  count: 'Aufträge',
  oldest: 'Ältester',
  jobs: 'Wartende und fehlschlagende Aufträge',
  nextAttempt: 'Nächster Versuch',
  failure: 'Grund',
  none: 'Nichts wartet',
};
