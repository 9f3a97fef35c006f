/** German texts of the page about the account. */
export const account = {
  signIn: 'Anmeldung',
  verified: 'bestätigt',
  unverified: 'nicht bestätigt',
  noMail: 'Dieser Dienst versendet keine E-Mails. Ein Administrator kann Ihre E-Mail-Adresse ändern.',
  changeEmail: 'E-Mail-Adresse ändern',
  newEmail: 'Neue E-Mail-Adresse',
  emailIntro:
    'Die neue E-Mail-Adresse erhält einen Link. Bis Sie ihn öffnen, melden Sie sich mit Ihrer aktuellen E-Mail-Adresse an.',
  sendLink: 'Link senden',
  emailSent: (email: string) =>
    `Eine E-Mail an ${email} wurde gesendet. Öffnen Sie den Link darin innerhalb einer Stunde. Dann enden alle Ihre Sitzungen, und Sie melden sich mit der neuen E-Mail-Adresse an.`,

  changePassword: 'Passwort ändern',
  newPassword: 'Neues Passwort',
  passwordIntro: 'Ihre anderen Sitzungen enden, wenn Sie das Passwort ändern.',
  passwordHint: (min: number) => `Mindestens ${min} Zeichen. Mehrere Wörter sind leicht zu merken.`,
  revokeKeys: 'Auch alle meine API-Schlüssel löschen',
  revokeKeysHint:
    'Wenn eine andere Person eine Kopie davon haben könnte. Programme, die sie verwenden, funktionieren dann nicht mehr.',
  passwordChanged: 'Das Passwort wurde geändert. Ihre anderen Sitzungen wurden beendet.',
  keysContinueOne: 'Ihr API-Schlüssel gilt weiter.',
  keysContinue: (count: number) => `Ihre ${count} API-Schlüssel gelten weiter.`,

  language: 'Sprache der E-Mails',
  languageDefault: 'Standard des Dienstes',
  idHint: 'Andere benötigen sie, damit Sie ein Dienstkonto mitverwalten können.',
  role: 'Rolle',
  administrator: 'Administrator',

  display: 'Darstellung',
  displayIntro: 'Farbschema und Sprache der Konsole, nur in diesem Browser.',

  export: 'Ihre Daten exportieren',
  exportDescription:
    'Eine JSON-Datei mit Ihrem Konto, Ihren Sitzungen, Schlüsseln ohne deren Geheimnisse, Dienstkonten und Ihrer Aktivität.',
  exportButton: 'Exportieren',
  exportFile: 'meine-daten.json',
  exported: 'Die Datei ist fertig.',

  deleteAccount: 'Konto löschen',
  deleteDescription: 'Löscht Ihr Konto, Ihre API-Schlüssel und Ihre Sitzungen. Das lässt sich nicht rückgängig machen.',
  deleteTitle: 'Ihr Konto löschen?',
  deleteIntro: 'Das lässt sich nicht rückgängig machen. Ihre E-Mail-Adresse kann danach neu verwendet werden.',
  deletesKeys: 'Ihre API-Schlüssel werden gelöscht und sofort abgelehnt.',
  deletesSessions: 'Ihre Sitzungen enden auf allen Geräten.',
  keepsServiceAccounts: 'Dienstkonten, die Sie verwalten, und deren Schlüssel bleiben bestehen.',
  typeEmail: (email: string) => `Geben Sie zur Bestätigung ${email} ein`,
  deletedTitle: 'Konto gelöscht',
  deleted: 'Ihr Konto wurde mit seinen API-Schlüsseln und Sitzungen gelöscht.',
};
