/** English texts of the key page: those of the console's pages about keys, where they are right for a customer too. */
import { fields } from '../text/en/fields.ts';
import { general } from '../text/en/general.ts';
import { keyProblems } from '../text/en/key-problems.ts';
import { keys } from '../text/en/keys.ts';

export { rotation } from '../text/en/rotation.ts';

const disabled = 'The key is disabled:';

export const en = {
  general,
  fields,
  keys: {
    ...keys,
    noScopesDeclared: 'There are no scopes that you can give to a key.',
    reasons: { ...keys.reasons, owner: disabled, administrator: disabled, dormant: disabled, restore: disabled },
  },
  problems: {
    ...keyProblems,
    page_not_loaded: 'The page could not be loaded. Load it again.',
    cross_origin_request: 'The request did not come from this page. Load it again.',
    scope_not_entitled: 'You cannot give a key one of these scopes.',
    reserved_scope: 'You cannot change this key.',
    portal_capability_required: 'You cannot do this here.',
    portal_session_ended: 'Your session has ended. Load the page again.',
  },
};

export const portal = {
  endedTitle: 'Your session has ended',
  endedIntro: 'Load the API keys again to continue.',
  endedPage: 'Open the API keys again from the page that you came from.',
  loadAgain: 'Load again',
  back: (host: string) => `Back to ${host}`,
  readOnly: 'You can see the API keys, but you cannot change them.',
  noRead: 'You cannot see the API keys here.',
  language: 'Language of the example',
};
