/** German sentences for the codes of rejected fields. */
import type { Texts } from '../texts.ts';

export const fields: Texts['fields'] = {
  invalid: () => 'Dieser Wert ist nicht möglich.',
  required: 'Dieses Feld ist erforderlich.',
  unknown_member: 'Der Server kennt dieses Feld nicht. Laden Sie die Seite neu.',
  wrong_type: 'Dieser Wert ist nicht von der erwarteten Art.',
  wrong_value: 'Das ist keiner der möglichen Werte.',
  wrong_form: 'Dieser Text hat nicht die erwartete Form.',
  wrong_time: 'Das ist keine gültige Zeitangabe.',
  repeated: 'Das steht schon in der Liste.',
  too_small: ({ limit }) => `Der kleinste mögliche Wert ist ${limit}.`,
  too_large: ({ limit }) => `Der größte mögliche Wert ist ${limit}.`,
  too_short: ({ limit }) => `Mindestzahl der Zeichen: ${limit}.`,
  too_long: ({ limit }) => `Der längste mögliche Text hat ${limit} Zeichen.`,
  too_few: ({ limit }) => `Mindestzahl: ${limit}.`,
  too_many: ({ limit }) => `Höchstens ${limit} sind möglich.`,
  not_printable: ({ limit }) => `Geben Sie höchstens ${limit} Zeichen ein, ohne Steuerzeichen.`,
  not_future: 'Dieser Zeitpunkt muss in der Zukunft liegen.',
  lifetime_exceeded: ({ limit }) => `Schlüssel laufen spätestens nach ${limit} Tagen ab.`,
  not_address: 'Das ist keine IP-Adresse und kein CIDR-Bereich wie 203.0.113.0/24.',
  host_bits: ({ expected }) => `Dieser Bereich hat Host-Bits. Meinten Sie ${expected}?`,
  not_grantable: 'Das Konto kann seinen Schlüsseln diesen Scope nicht geben.',
  not_entitleable: 'Das ist kein Scope des Katalogs, der eine Berechtigung benötigt.',
  entry: (place, sentence) => `Eintrag ${place}: ${sentence}`,
};
