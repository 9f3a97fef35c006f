/** How the pages and mails of the installation look: the operator's name, mark and colour. */
import type { Accent } from './accent.ts';
import type { Mark } from './mark.ts';

export interface Look {
  /** The operator's name. */
  readonly operator: string;
  readonly mark: Mark | undefined;
  /** Undefined: that of Keyreeve. */
  readonly accent: Accent | undefined;
}

/** Below the public URL, and at the host of the console: a path that does not belong to the console. */
export const markPath = '/account/mark';
