/** Buttons that copy blocks of code. */

export function addCopyButtons(): void {
  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.ariaLive = 'polite';
    button.textContent = 'Copy';
    button.addEventListener('blur', () => (button.textContent = 'Copy'));
    button.addEventListener('click', () => void copy(code.textContent ?? '', button));
    const frame = document.createElement('div');
    frame.className = 'code';
    code.parentElement?.replaceWith(frame);
    frame.append(code.parentElement!, button);
  }
}

/** The text of the button says what happened. Over plain HTTP, browsers have no clipboard, except at localhost. */
async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not copied';
  }
}
