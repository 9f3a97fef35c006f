/** German texts of the page about signing keys. */
import type { AdminTexts } from '../../texts.ts';

export const signingKeys: AdminTexts['signingKeys'] = {
  intro:
    'Diese Schlüssel signieren Zugriffstoken. Dienste rufen die öffentlichen Schlüssel ab, um die Token zu prüfen.',
  kid: 'Schlüssel-ID',
  alg: 'Algorithmus',
  states: { next: 'Nächster', active: 'Aktiv', retired: 'Abgelöst' },
  signsFrom: 'Signiert ab',
  rotate: 'Wechseln',
  rotateTitle: 'Signaturschlüssel wechseln?',
  rotateIntro:
    'Ein neuer Schlüssel wird jetzt veröffentlicht und signiert in 10 Minuten, wenn Dienste ihn abgerufen haben. Der bisherige Schlüssel bleibt gültig, bis sein letztes Zugriffstoken abgelaufen ist.',
  rotated: 'Der nächste Signaturschlüssel ist veröffentlicht und signiert in 10 Minuten.',
  rotateNow: 'Sofort wechseln…',
  rotateNowTitle: 'Alle Signaturschlüssel jetzt ersetzen?',
  rotateNowIntro:
    'Nur für einen Schlüssel, der in fremde Hände gelangt sein kann. Alle Zugriffstoken werden sofort ungültig, und Clients müssen sie erneuern. Dienste mit zwischengespeicherten öffentlichen Schlüsseln lehnen neue Zugriffstoken ab, bis sie die Schlüssel erneut abrufen. Sitzungen der Konsole bestehen weiter.',
  rotateNowSubmit: 'Alle Schlüssel ersetzen',
  rotatedNow: 'Ein neuer Schlüssel signiert. Alle früheren Zugriffstoken sind ungültig.',
};
