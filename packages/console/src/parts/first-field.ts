/**
 * The field that gets the focus when its page or dialog opens. Not the attribute `autofocus`: browsers apply it once for each
 * document, and Chromium logs a warning for each other use.
 */
export const firstField = '[data-first]';

export const markFirst = (isFirst: boolean | undefined): object => (isFirst ? { 'data-first': '' } : {});
