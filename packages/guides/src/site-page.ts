/** What each page of the guides consists of, whatever it is made from. */
import type { Html } from '../../server/src/http/html.ts';

/** Where a page or file is for the page that links it. @param anchor may be empty */
export type LinkTo = (name: string, anchor?: string) => string;

export interface SitePage {
  /** Such as `mail` or `api/errors`; empty for the start page. */
  readonly name: string;
  readonly title: string;
  /** The sections that the navigation shows below the page. */
  readonly sections: readonly { readonly anchor: string; readonly title: string }[];
  readonly content: (linkTo: LinkTo) => Html;
  readonly texts: readonly SearchedText[];
}

/** A part of a page that the search finds. */
export interface SearchedText {
  readonly anchor: string;
  /** Empty for the text before the first section. */
  readonly heading: string;
  readonly text: string;
}
