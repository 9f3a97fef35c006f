/** The frame of a page: sets the title of the window and, after a navigation, moves the focus to the heading. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { config } from '../session.ts';

interface PageProps {
  readonly title: string;
  /** Beside the heading. */
  readonly actions?: ComponentChildren;
  readonly intro?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The first page of a visit leaves the focus where the browser puts it. */
let isFirst = true;

export function Page({ title, actions, intro, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · ${config.value?.product ?? 'Keyreeve'}`;
  }, [title]);
  return (
    <>
      <header class="page-header">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {intro && <p class="intro">{intro}</p>}
      {children}
    </>
  );
}
