/** A step of a dialog. When it replaces another one, the focus moves to its first field. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { focusFirst } from './first-field.ts';
import { Notice } from './notice.tsx';

export function Step({ children }: { readonly children: ComponentChildren }) {
  const step = useRef<HTMLDivElement>(null);
  // The dialog moves the focus only when it opens.
  useLayoutEffect(() => void focusFirst(step.current), []);
  return (
    <div ref={step} class="stack">
      {children}
    </div>
  );
}

interface DoneProps {
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** The last step: what has happened, and the button that closes the dialog. */
export const Done = ({ children, onClose }: DoneProps) => (
  <Step>
    <Notice tone="success" role="status">
      {children}
    </Notice>
    <div class="actions end">
      <Button kind="primary" autofocus onClick={onClose}>
        {text.general.close}
      </Button>
    </div>
  </Step>
);
