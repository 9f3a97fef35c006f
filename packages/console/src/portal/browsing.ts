/** The window of this page. */
import type { Browsing } from './host.ts';

const metaOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name=keyreeve-${name}]`)?.content ?? '';

export const ownBrowsing = (): Browsing => ({
  origin: metaOf('origin'),
  display: metaOf('display'),
  parent: window.parent,
  isFramed: window.parent !== window,
  listen: (receive) => addEventListener('message', receive),
});
