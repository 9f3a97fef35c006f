/** What the pages do besides being read: search, buttons that copy code, and the list of pages on narrow screens. */
import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';

/** Only what scrolls can have the focus, so that the keyboard reaches each part of a wide table or of code. */
function makeScrollersReachable(): void {
  for (const scroller of document.querySelectorAll<HTMLElement>('.scroller, pre'))
    if (scroller.scrollWidth > scroller.clientWidth) scroller.tabIndex = 0;
    else scroller.removeAttribute('tabindex');
}

const navigation = document.querySelector<HTMLElement>('#navigation');
// On wide screens, the list scrolls by itself.
navigation?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
navigation?.addEventListener('click', (event) => {
  if (event.target instanceof HTMLAnchorElement && navigation.matches(':popover-open')) navigation.hidePopover();
});

addCopyButtons();
makeScrollersReachable();
addEventListener('resize', makeScrollersReachable);
startSearch();
