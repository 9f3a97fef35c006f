/**
 * What the first load contains besides the shell. Each file that loads later exports it too, so that the build puts the code that they share
 * into one file. An export of the shell instead would be a circle, because the shell imports these files.
 */
export { mainPages } from '../main-pages.ts';
export { useOwnSentences } from '../own-sentences.ts';
export { opensBySlash } from '../palette/shortcuts.ts';
export { lazyPage } from '../parts/lazy-page.tsx';
export { Preferences } from '../parts/preferences.tsx';
export { KeysPage } from './keys/keys-page.tsx';
export { NotFoundPage } from './not-found-page.tsx';
export { recoveryCodes } from './security/recovery-codes.ts';
export { SignInPage } from './sign-in/sign-in-page.tsx';
