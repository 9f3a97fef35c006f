/** The second step of an operation lies at another place than the pointer of the first one (parts/second-step.ts). */
import { areAtSamePlace, liesBelow } from './places.ts';

let pressed: MouseEvent | undefined;

/** A click that a key causes has no place on the page. */
const isOfPointer = ({ detail }: MouseEvent): boolean => detail > 0;

/** Notes where the pointer is pressed: the first step of what follows. */
export function watchPointer(): void {
  addEventListener('click', (event) => void (pressed = isOfPointer(event) ? event : undefined), true);
}

/**
 * Moves the buttons of a form to the other end of their line if the submission lies below the pointer of the first step, also after the
 * dialog has changed its size. The dialog or the frame can also move without a new size: a press at the place of the first step moves the
 * buttons, and submits nothing.
 * @returns what ends it
 */
export function keepPlacesApart(dialog: HTMLElement): () => void {
  const first = pressed;
  if (!first) return () => undefined;
  const move = (): unknown => dialog.classList.toggle('other-end');
  const observer = new ResizeObserver(() => {
    const submit = dialog.querySelector<HTMLElement>('[type=submit]');
    if (submit && liesBelow(first, submit.getBoundingClientRect())) move();
  });
  observer.observe(dialog);
  const onClick = (event: MouseEvent): void => {
    const isSubmission = (event.target as Element).closest('[type=submit]');
    if (!isSubmission || !isOfPointer(event) || !areAtSamePlace(first, event)) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  dialog.addEventListener('click', onClick, true);
  return () => {
    observer.disconnect();
    dialog.removeEventListener('click', onClick, true);
  };
}
