/** German texts of “Protect your API”. */
import type { AdminTexts } from '../../texts.ts';

export const protect: AdminTexts['protect'] = {
  title: 'Schützen Sie Ihre API',
  intro: 'Keyreeve prüft den Schlüssel jeder Anfrage an Ihre API: für einen Proxy davor oder für Ihr Programm.',
  create: 'Dienstschlüssel erstellen',
  createHint: 'Ein Programm braucht einen Dienstschlüssel, um Schlüssel zu prüfen.',
  exampleFor: 'Beispiel für',
  example: (name) => `Beispiel für ${name}`,
  proxyHint: (address) =>
    `Eine vollständige Konfiguration: Ihre erste Zeile nennt den Befehl, der den Proxy startet, und ihre Zeilen für Scopes und Webseiten sind Beispiele. Der Proxy erreicht Keyreeve unter ${address} und Ihre API unter 127.0.0.1:9000: Ersetzen Sie beide, wenn sie anderswo sind.`,
  proxiedHint: 'Erstellen Sie dann einen API-Schlüssel, und senden Sie damit eine Anfrage durch den Proxy:',
  proxied: 'Anfrage durch den Proxy',
  programHint: 'Das Programm liest den Dienstschlüssel aus der Umgebungsvariablen KEYREEVE_SERVICE_KEY.',
  curlHint:
    'Prüft einen Schlüssel, wie ein Programm es tut. Setzen Sie KEYREEVE_SERVICE_KEY auf den Dienstschlüssel und API_KEY auf den Schlüssel.',
  waiting: 'Warten auf die erste Prüfung…',
  verified: 'Die erste Prüfung ist eingetroffen.',
  next: 'Nächste Schritte',
  invite: 'Personen einladen',
  setUpMail: 'E-Mail einrichten',
  testMail: 'Test-E-Mail senden',
  backUp: 'Sichern Sie die Datenbank:',
  file: 'Datei',
  close: 'Karte schließen',
};
