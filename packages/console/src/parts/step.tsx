/** A step of a dialog. When it replaces another one, the focus moves to its element with `autofocus`. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export function Step({ children }: { readonly children: ComponentChildren }) {
  const step = useRef<HTMLDivElement>(null);
  // The browser regards the attribute only when the dialog opens.
  useLayoutEffect(() => step.current?.querySelector<HTMLElement>('[autofocus]')?.focus(), []);
  return (
    <div ref={step} class="stack">
      {children}
    </div>
  );
}
