/** Sentences about problems that depend on the page and on the URL of the console. */
import { ownOrigin } from './own-origin.ts';
import { ownSentences } from './problem.ts';
import { root } from './root.ts';
import { adminText } from './text/admin-text.ts';
import { text } from './text/text.ts';

/** The texts of these pages load with them. */
const isAdministration = (): boolean => location.pathname.startsWith(`${root}/admin/`) && Boolean(adminText);

export function useOwnSentences(): void {
  ownSentences.ofCode = (code) => {
    if (code === 'cross_origin_request' && ownOrigin.value !== location.origin)
      return `${text.signIn.otherOrigin} ${ownOrigin.value}${root}`;
    // Some sentences about the own account would be wrong on the pages about other accounts.
    const ofOthers: Readonly<Record<string, string>> = isAdministration() ? adminText.problems : {};
    return ofOthers[code];
  };
}
