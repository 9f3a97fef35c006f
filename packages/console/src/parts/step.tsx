/** A step of a dialog. When it replaces another one, the focus moves to its first field. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { firstField } from './first-field.ts';

export function Step({ children }: { readonly children: ComponentChildren }) {
  const step = useRef<HTMLDivElement>(null);
  // The dialog moves the focus only when it opens.
  useLayoutEffect(() => step.current?.querySelector<HTMLElement>(firstField)?.focus(), []);
  return (
    <div ref={step} class="stack">
      {children}
    </div>
  );
}
