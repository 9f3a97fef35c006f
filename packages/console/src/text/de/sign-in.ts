/** German texts of the pages about sign-in, sign-up and the first administrator. */
export const signIn = {
  title: 'Anmelden',
  back: 'Zurück',
  or: 'oder',
  withPasskey: 'Passkey verwenden',
  withProvider: (name: string) => `Mit ${name} anmelden`,
  toReset: 'Passwort vergessen?',
  noAccount: 'Noch kein Konto?',
  otherOrigin: 'Unter dieser Adresse können Sie sich nicht anmelden. Öffnen Sie die Konsole unter:',
  endReasons: {
    unused: 'Ihre Sitzung ist beendet, weil sie nicht verwendet wurde. Melden Sie sich wieder an, um fortzufahren.',
    ended: 'Ihre Sitzung ist beendet. Melden Sie sich wieder an, um fortzufahren.',
    otherTab: 'Sie haben sich in einem anderen Tab abgemeldet. Melden Sie sich wieder an, um fortzufahren.',
    hasAdministrator: 'Diese Installation hat inzwischen einen Administrator. Melden Sie sich mit dessen Konto an.',
  },
  steps: {
    code: {
      title: 'Zweiter Faktor',
      intro: 'Geben Sie die sechs Ziffern ein, die Ihre Authenticator-App für dieses Konto anzeigt.',
    },
    recovery: {
      title: 'Wiederherstellungscode',
      intro:
        'Sie haben Wiederherstellungscodes erhalten, als Sie den zweiten Faktor eingerichtet haben. Jeder Code gilt einmal.',
    },
    passkey: { title: 'Zweiter Faktor', intro: 'Ihr Konto hat einen Passkey. Melden Sie sich damit an.' },
  },
  code: 'Einmalcode',
  codeRule: 'Sechs Ziffern',
  codeWrong: 'Der Einmalcode ist falsch, abgelaufen oder bereits verwendet. Geben Sie den nächsten Code ein.',
  toRecovery: 'Wiederherstellungscode verwenden',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeWrong: 'Der Wiederherstellungscode ist falsch oder bereits verwendet.',
  toCode: 'Einmalcode verwenden',
  signUpTitle: 'Konto erstellen',
  signUpSubmit: 'Konto erstellen',
  hasAccount: 'Haben Sie bereits ein Konto?',
  passwordRule: (length: number) =>
    `Mindestens ${length} Zeichen. Mehrere Wörter, die nichts miteinander zu tun haben, sind ein gutes Passwort.`,
  mailTitle: 'Sehen Sie in Ihr Postfach',
  mailSent: (email: string) =>
    `Eine E-Mail an ${email} ist unterwegs. Öffnen Sie den Link darin, um die Registrierung abzuschließen. Wenn es ein Konto mit dieser E-Mail-Adresse gibt, erklärt die E-Mail, wie Sie sich anmelden.`,
  sendAgain: 'E-Mail noch einmal senden',
  firstTitle: 'Ersten Administrator erstellen',
  firstIntro: 'Diese Installation hat noch keinen Administrator.',
  firstCode: 'Einrichtungscode',
  firstSubmit: 'Administrator erstellen',
  whereTitle: 'Wo finde ich den Einrichtungscode?',
  whereFile:
    'Mit SQLite zeigt Keyreeve einen Link mit dem Code in dem Terminal, in dem es gestartet wurde, und schreibt den Code in eine Datei neben der Datenbank, zum Beispiel keyreeve.db.first-administrator.',
  whereCommand:
    'Der Code gilt einmal und eine Stunde lang. Mit PostgreSQL, oder um den Code zu ersetzen, schreiben Sie einen in eine neue Datei:',
  whereCommandLabel: 'Befehl',
};
