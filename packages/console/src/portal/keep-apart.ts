/** The second step of an operation lies at another place than the pointer of the first one (parts/second-step.ts). */
import { liesBelow, type Point } from './places.ts';

let pressedAt: Point | undefined;

/** Notes where the pointer is pressed: the first step of what follows. */
export function watchPointer(): void {
  addEventListener('pointerdown', ({ clientX, clientY }) => void (pressedAt = { x: clientX, y: clientY }), true);
  // A key has no place on the page.
  addEventListener('keydown', () => void (pressedAt = undefined), true);
}

/**
 * Moves the buttons of a form to the other end of their line if the submission lies below the pointer of the first step, also after the
 * dialog has changed its size.
 * @returns what ends it
 */
export function keepPlacesApart(dialog: HTMLElement): () => void {
  const first = pressedAt;
  if (!first) return () => undefined;
  const check = (): void => {
    const submit = dialog.querySelector<HTMLElement>('[type=submit]');
    if (submit && liesBelow(first, submit.getBoundingClientRect())) dialog.classList.toggle('other-end');
  };
  const observer = new ResizeObserver(check);
  observer.observe(dialog);
  return () => observer.disconnect();
}
