/** German texts of the page on which a person approves the sign-in of a program. */
import type { ApprovalTexts } from './texts.ts';

export const deApproval: ApprovalTexts = {
  title: 'Ein Programm genehmigen',
  typeIntro: 'Geben Sie den Code ein, den das Programm in Ihrem Terminal anzeigt.',
  compareIntro: 'Vergleichen Sie diesen Code mit dem in Ihrem Terminal.',
  warning:
    'Fahren Sie nur fort, wenn Sie diese Anmeldung gerade selbst begonnen haben. Wenn Sie diesen Code oder Link von einer anderen Person haben, schließen Sie diese Seite: Der API-Schlüssel ginge an diese Person. Keine andere Person und keine andere Website wird Sie jemals nach diesem Code fragen.',
  code: 'Code',
  isSame: 'Mein Terminal zeigt diesen Code',
  isOther: 'Es zeigt ihn nicht',
  another: 'Anderen Code eingeben',
  problems: {
    approval_not_found:
      'Kein Programm wartet mit diesem Code. Vergleichen Sie ihn mit dem in Ihrem Terminal. Ein Code gilt 10 Minuten und für eine Anmeldung.',
    approval_decided: 'Das Programm wurde bereits genehmigt oder abgelehnt.',
  },
  unavailable:
    'Der Dienst erreicht seine Datenbank nicht. Versuchen Sie es gleich noch einmal. Sie können jeden Schritt dieser Seite wiederholen.',
  reviewTitle: (program) => `${program} genehmigen?`,
  reviewIntro: (email) => `Das Programm bittet um einen API-Schlüssel Ihres Kontos ${email}.`,
  request: 'Anfrage',
  program: 'Programm',
  clientRange: 'Client-IP-Bereich',
  ownRange: 'wie dieser Browser',
  otherRange:
    'Das Programm hat einen anderen Client-IP-Bereich als dieser Browser. Das ist über SSH und durch ein VPN zu erwarten, und wenn nur eines von beiden IPv6 verwendet. Wenn Sie diese Anmeldung nicht begonnen haben, lehnen Sie ab.',
  requested: 'Angefragt',
  codeEnds: 'Code gültig für',
  key: 'API-Schlüssel',
  nicknameHint: 'Zum Beispiel der Name des Geräts. Hat ein anderer Schlüssel diesen Namen, wird eine Nummer angehängt.',
  scopesHint: 'Was das Programm tun darf. Entfernen Sie, was es nicht braucht.',
  noScopes: 'Das Programm bittet um keine Scopes.',
  notGrantable: 'Ihr Konto kann diesen Scope nicht vergeben.',
  lifetime: 'Gültig für',
  longest: (duration) => `${duration} (Höchstdauer)`,
  approve: 'Genehmigen',
  deny: 'Ablehnen',
  takeBack: 'Genehmigung zurücknehmen',
  outcomes: {
    approved: {
      title: 'Zurück zu Ihrem Terminal',
      sentence:
        'Sie haben das Programm genehmigt. Es erhält seinen API-Schlüssel in wenigen Sekunden. Bleiben Sie bis dahin angemeldet.',
    },
    used: {
      title: 'Zurück zu Ihrem Terminal',
      sentence: 'Das Programm hat seinen API-Schlüssel. Sie können diese Seite schließen.',
    },
    denied: {
      title: 'Das Programm wurde abgelehnt',
      sentence:
        'Das Programm erhält keinen API-Schlüssel. Starten Sie die Anmeldung im Terminal neu, um es noch einmal zu versuchen.',
    },
    expired: {
      title: 'Der Code ist abgelaufen',
      sentence:
        'Das Programm erhält keinen API-Schlüssel. Starten Sie die Anmeldung im Terminal neu, um es noch einmal zu versuchen.',
    },
    removed: {
      title: 'Die Anfrage ist beendet',
      sentence:
        'Das Programm wurde entfernt, oder eine andere Anmeldung hat diese ersetzt. Es erhält keinen API-Schlüssel.',
    },
    others: {
      title: 'Ein anderes Konto hat entschieden',
      sentence:
        'Eine Person mit einem anderen Konto hat diese Anfrage genehmigt oder abgelehnt. Sie müssen nichts tun.',
    },
    foreign: {
      title: 'Fahren Sie nicht fort',
      sentence:
        'Vielleicht hat Ihnen eine andere Person diesen Link geschickt, um einen API-Schlüssel Ihres Kontos zu erhalten. Es wurde nichts genehmigt. Schließen Sie diese Seite.',
    },
  },
  openKey: 'API-Schlüssel öffnen',
};
