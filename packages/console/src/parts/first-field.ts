/**
 * The element that gets the focus when its page or dialog opens. Not the attribute `autofocus`: browsers apply it once for each
 * document, and Chromium logs a warning for each other use.
 */
export const firstField = '[data-first]';

export const markFirst = (isFirst: boolean | undefined): object => (isFirst ? { 'data-first': '' } : {});

/** Of several radio buttons, the chosen one. */
const fields = ':is(input:not([type=hidden], [type=radio]:not(:checked)), select, textarea):enabled:not([readonly])';
/** Not the button that destroys something: a key that is pressed too long must not do so. */
const buttons = '.button:not(.danger)';

/**
 * Moves the focus to where the person works in a dialog: the marked element, otherwise the first field, otherwise the first button.
 * @returns false if the dialog has none of them
 */
export function focusFirst(part: HTMLElement | null | undefined): boolean {
  for (const selector of [firstField, fields, buttons]) {
    const found = [...(part?.querySelectorAll<HTMLElement>(selector) ?? [])].find((element) =>
      element.checkVisibility(),
    );
    found?.focus();
    if (found) return true;
  }
  return false;
}
