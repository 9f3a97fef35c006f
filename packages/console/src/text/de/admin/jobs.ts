/** German texts of the page about jobs of the outbox. */
import type { AdminTexts } from '../../texts.ts';

export const jobs: AdminTexts['jobs'] = {
  intro: 'E-Mails, Webhooks und andere Arbeit, die noch nicht erledigt ist. Der Server wiederholt Fehlgeschlagenes.',
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
  list: 'Wartende und fehlschlagende Aufträge',
  none: 'Nichts wartet',
};
