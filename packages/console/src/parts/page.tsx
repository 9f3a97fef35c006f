/**
 * The frame of a page: sets the title of the window and, after a navigation, moves the focus to the heading, or to the first field.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { productName } from '../product-name.ts';
import { firstField } from './first-field.ts';
import { ViewLink } from './view-link.tsx';

interface PageProps {
  readonly title: string;
  /** Beside the heading. */
  readonly actions?: ComponentChildren;
  readonly intro?: ComponentChildren;
  /** The page above this one, as a link over the heading. */
  readonly parent?: { readonly href: string; readonly label: string };
  readonly children: ComponentChildren;
}

/** The first page of a visit leaves the focus where the browser puts it. */
let isFirst = true;

/** For a page that is rendered again without a navigation. */
export const keepFocusOfNextPage = (): void => void (isFirst = true);

export function Page({ title, actions, intro, parent, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const field = heading.current?.closest('main')?.querySelector<HTMLElement>(firstField);
    if (field) field.focus();
    else if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · ${productName()}`;
  }, [title]);
  return (
    <>
      <header class="page-header">
        <div class="page-heading">
          {parent && (
            <ViewLink class="breadcrumb" href={parent.href}>
              <span aria-hidden="true">{'←\u00a0'}</span>
              {parent.label}
            </ViewLink>
          )}
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{title}</bdi>
          </h1>
          {intro && <p class="intro">{intro}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
