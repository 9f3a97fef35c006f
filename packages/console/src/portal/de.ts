/** German texts of the key page. */
import { fields } from '../text/de/fields.ts';
import { general } from '../text/de/general.ts';
import { keyProblems } from '../text/de/key-problems.ts';
import { keys } from '../text/de/keys.ts';
import type { portal as english } from './en.ts';

export { rotation } from '../text/de/rotation.ts';

const disabled = 'Der Schlüssel ist deaktiviert:';

export const de = {
  general,
  fields,
  keys: {
    ...keys,
    noScopesDeclared: 'Es gibt keine Scopes, die Sie einem Schlüssel geben können.',
    reasons: { ...keys.reasons, owner: disabled, administrator: disabled, dormant: disabled, restore: disabled },
  },
  problems: {
    ...keyProblems,
    page_not_loaded: 'Die Seite konnte nicht geladen werden. Laden Sie sie neu.',
    cross_origin_request: 'Die Anfrage kam nicht von dieser Seite. Laden Sie sie neu.',
    scope_not_entitled: 'Einen dieser Scopes dürfen Sie einem Schlüssel nicht geben.',
    reserved_scope: 'Diesen Schlüssel dürfen Sie nicht ändern.',
    portal_capability_required: 'Das dürfen Sie hier nicht.',
    portal_session_ended: 'Ihre Sitzung ist beendet. Laden Sie die Seite neu.',
  },
};

export const portal: typeof english = {
  endedTitle: 'Ihre Sitzung ist beendet',
  endedIntro: 'Laden Sie die API-Schlüssel neu, um fortzufahren.',
  endedPage: 'Öffnen Sie die API-Schlüssel noch einmal von der Seite, von der Sie gekommen sind.',
  loadAgain: 'Neu laden',
  back: (host) => `Zurück zu ${host}`,
  readOnly: 'Sie können die API-Schlüssel sehen, aber nicht ändern.',
  noRead: 'Sie dürfen die API-Schlüssel hier nicht sehen.',
  language: 'Sprache des Beispiels',
};
