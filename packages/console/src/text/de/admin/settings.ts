/** German texts of the page about the settings. */
import type { AdminTexts } from '../../texts.ts';

export const settings: AdminTexts['settings'] = {
  intro: 'Nur der Betreiber kann Einstellungen ändern: in der Umgebung des Servers, vor dessen Start.',
  version: (version) => `Keyreeve ${version}`,
  checks: 'Prüfungen',
  checksIntro: 'Auf der Maschine des Servers führt keyreeve doctor weitere Prüfungen aus.',
  check: 'Prüfung',
  detail: 'Einzelheiten',
  states: { ok: 'In Ordnung', note: 'Hinweis', warning: 'Warnung', failed: 'Fehler' },
  values: 'Geltende Einstellungen',
  name: 'Einstellung',
  value: 'Wert',
  source: 'Quelle',
  sources: { default: 'Vorgabe', environment: 'Umgebung', file: 'Datei' },
  secret: 'gesetzt, nicht angezeigt',
  unset: 'nicht gesetzt',
  onlyChanged: 'Nur Einstellungen, die nicht die Vorgabe haben',
};
