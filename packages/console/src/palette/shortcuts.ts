/** The keys that open the command palette: Ctrl-K, Cmd-K on macOS, and `/` outside of fields. */
import { signal } from '@preact/signals';
import { text } from '../text/text.ts';

export const isPaletteOpen = signal(false);

/** On macOS, Ctrl-K deletes the rest of a line. */
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** As people write it. */
export const shownShortcut = (): string => (isMac ? '⌘ K' : text.general.ctrlK);
export const ariaShortcut = isMac ? 'Meta+K' : 'Control+K';

/**
 * Whether `/` opens the palette, until the page is loaded again. A key without a modifier needs a way to turn it off (WCAG 2.1.4),
 * for people who dictate.
 */
export const opensBySlash = signal(true);

const fields = 'input, textarea, select, [contenteditable]';

function opensPalette(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (key === '/' && !ctrlKey && !metaKey && !altKey)
    return opensBySlash.peek() && !(target instanceof Element && target.closest(fields));
  return key.toLowerCase() === 'k' && !altKey && !shiftKey && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey);
}

/** @returns stops it */
export function watchShortcuts(): () => void {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || event.repeat || !opensPalette(event)) return;
    // Another dialog waits for an answer.
    if (document.querySelector('dialog[open]')) return;
    event.preventDefault();
    isPaletteOpen.value = true;
  };
  addEventListener('keydown', onKeyDown);
  return () => {
    removeEventListener('keydown', onKeyDown);
    isPaletteOpen.value = false;
  };
}
