/** A modal dialog. The browser keeps the focus inside and returns it to the element that opened it. */
import type { ComponentChildren } from 'preact';
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { focusFirst } from './first-field.ts';
import { openDialogs } from './open-dialogs.ts';
import { Appearance, isHeldPress, submitsFromChoice } from './presses.ts';
import { SecondStep } from './second-step.ts';

interface DialogProps {
  readonly title: string;
  /** Called for Escape and the close button too, except while a form sends its request. The dialog is open as long as it is rendered. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly size?: 'small' | 'large';
  /** Without the button in the header, for dialogs that must not be closed by accident. */
  readonly hasNoCloseButton?: boolean;
  /** Of the opened dialog. Default: at its first field or button. */
  readonly focus?: 'first' | 'heading';
}

export function Dialog({ title, onClose, children, size = 'small', hasNoCloseButton = false, focus }: DialogProps) {
  const id = useId();
  const rules = useContext(SecondStep);
  const appearance = useRef<Appearance>(undefined);
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    openDialogs.value++;
    appearance.current = new Appearance(rules);
    const end = dialog && rules.keepApart?.(dialog);
    if (focus === 'heading' || !focusFirst(body.current)) heading.current?.focus();
    return () => {
      end?.();
      openDialogs.value--;
      dialog?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
    // oxlint-disable-next-line react/exhaustive-deps -- they are the same as long as the dialog is open
  }, []);
  // The response may contain a secret that the server sends once.
  const close = (): void => {
    if (!ref.current?.querySelector('[type=submit][aria-busy]')) onClose();
  };
  // Browsers send no `cancel` for a second Escape, and close the dialog: so the key itself is handled.
  const presses = {
    onKeyDownCapture: (event: KeyboardEvent) => {
      const { tagName: name, type } = event.target as HTMLInputElement;
      const isOfChoice = rules.pauseMs > 0 && submitsFromChoice(event, { name, type });
      if (isOfChoice || isHeldPress(event, { name, type })) event.preventDefault();
    },
    onSubmitCapture: (event: Event) => {
      if (appearance.current?.accepts()) return;
      event.preventDefault();
      event.stopPropagation();
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      close();
    },
    onCancel: (event: Event) => {
      event.preventDefault();
      close();
    },
    // Closed by other means, such as a gesture, while it is still rendered.
    onClose: () => ref.current?.showModal(),
  };
  return (
    <dialog ref={ref} class={size} aria-labelledby={id} {...presses}>
      <div class="dialog-header">
        <h2 ref={heading} id={id} tabIndex={-1}>
          {title}
        </h2>
        {!hasNoCloseButton && (
          <Button kind="quiet" isSmall icon="close" isIconOnly onClick={close}>
            {text.general.closeDialog}
          </Button>
        )}
      </div>
      <div ref={body} class="dialog-body">
        {children}
      </div>
    </dialog>
  );
}
