/** German texts of the page about the second factor, sessions and activity. */
export const security = {
  title: 'Sicherheit',
  mustEnrol: 'Ihr Konto benötigt einen zweiten Faktor. Richten Sie ihn ein, um fortzufahren.',

  secondFactor: 'Zweiter Faktor',
  on: 'Ein',
  off: 'Aus',
  offIntro:
    'Für eine Anmeldung genügt Ihr Passwort. Mit einem zweiten Faktor kann sich eine Person, die Ihr Passwort erfährt, ohne Ihr Gerät nicht anmelden.',
  onIntro: 'Jede Anmeldung benötigt Ihr Passwort und einen Einmalcode.',
  setUp: 'Authenticator-App einrichten',
  authenticatorApp: 'Authenticator-App',
  appHint: 'Zeigt alle 30 Sekunden einen neuen Einmalcode.',
  requiredByPolicy: 'Die Administration verlangt für Ihr Konto einen zweiten Faktor. Sie können ihn nicht entfernen.',
  remove: 'Entfernen',
  removed: 'Der zweite Faktor wurde entfernt.',
  removeTitle: 'Zweiten Faktor entfernen?',
  removeIntro:
    'Danach genügt für eine Anmeldung Ihr Passwort. Ihre Wiederherstellungscodes werden ungültig, und Ihre anderen Sitzungen enden.',

  setUpTitle: 'Authenticator-App einrichten',
  setUpIntro:
    'Sie benötigen eine App, die Einmalcodes zeigt, auf Ihrem Telefon oder in Ihrem Passwortmanager. Ihre anderen Sitzungen enden.',
  scan: 'Scannen Sie den QR-Code mit der App, oder geben Sie das Geheimnis in der App ein.',
  enterCode: 'Geben Sie die sechs Ziffern ein, die die App zeigt.',
  qrCode: 'QR-Code mit dem Geheimnis für die Authenticator-App',
  secret: 'Geheimnis',
  codeOfApp: 'Sechsstelliger Code',
  turnOn: 'Einschalten',

  recoveryCodes: 'Wiederherstellungscodes',
  recoveryCodesHint: 'Jeder ersetzt einmal einen Einmalcode, zum Beispiel nach dem Verlust Ihres Telefons.',
  replaceCodes: 'Neue Wiederherstellungscodes',
  replaceTitle: 'Neue Wiederherstellungscodes erzeugen?',
  replaceIntro: 'Ihre bisherigen Wiederherstellungscodes werden ungültig.',
  codesTitle: 'Ihre Wiederherstellungscodes',
  codesIntro: 'Jeder dieser Codes gilt einmal anstelle eines Einmalcodes.',
  codesOnce: 'Jeder Code gilt einmal. Halten Sie diese Liste geheim.',
  codesWarning:
    'Die Konsole zeigt diese Codes nicht noch einmal. Bewahren Sie sie so auf, dass Sie sie ohne Ihr Telefon finden.',
  copyCodes: 'Codes kopieren',
  download: 'Als .txt speichern',
  print: 'Drucken',
  haveStored: 'Ich habe sie aufbewahrt',
  codesFileName: 'wiederherstellungscodes.txt',
  codesFileHeading: (product: string, email: string, at: string) =>
    `${product}: Wiederherstellungscodes von ${email}, ${at}`,

  sessions: 'Sitzungen',
  sessionsIntro: 'Wo Ihr Konto angemeldet ist. Eine beendete Sitzung wird sofort auf jeder Instanz abgewiesen.',
  device: 'Gerät',
  clientIp: 'Client-IP',
  signedIn: 'Angemeldet',
  lastUsed: 'Zuletzt benutzt',
  expires: 'Endet',
  current: 'diese Sitzung',
  programOnSystem: (program: string, system: string) => `${program} auf ${system}`,
  unknownDevice: 'Unbekanntes Gerät',
  end: 'Beenden',
  endOthers: 'Alle anderen Sitzungen beenden',
  endedOne: 'Die Sitzung wurde beendet.',
  endedMany: (count: number) => `${count} Sitzungen wurden beendet.`,
};
