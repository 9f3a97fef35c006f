/** A button that opens a list of links and buttons below it. The browser closes it after a click outside and by Escape. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface MenuProps {
  /** The accessible name of a button without text. */
  readonly label?: string;
  /** What the button shows instead of the icon with three dots. */
  readonly button?: ComponentChildren;
  readonly buttonClass?: string;
  /** `a`, `button` and `hr` elements. */
  readonly children: ComponentChildren;
}

const gap = 4;

export function Menu({ label, button, buttonClass = 'button quiet small icon-only', children }: MenuProps) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const place = (menu: HTMLElement): void => {
    const { bottom, top, left, right } = opener.current!.getBoundingClientRect();
    const { offsetHeight: height, offsetWidth: width } = menu;
    const { clientWidth, clientHeight } = document.documentElement;
    const isBelow = bottom + gap + height <= clientHeight || top < height;
    // Aligned with the edge of the button that is nearer to the edge of the window.
    const start = left + right < clientWidth ? left : right - width;
    menu.style.top = `${isBelow ? bottom + gap : top - gap - height}px`;
    menu.style.left = `${Math.max(gap, start)}px`;
  };
  // As an object: a click on one of the links and buttons bubbles to the menu, which has no action of its own.
  const closing = {
    onClick: ({ target, currentTarget }: MouseEvent) => {
      if ((target as Element).closest('a, button')) (currentTarget as HTMLElement).hidePopover();
    },
  };
  return (
    <>
      <button ref={opener} type="button" class={buttonClass} popovertarget={id} aria-label={label}>
        {button ?? <Icon name="more" />}
      </button>
      <div
        id={id}
        class="menu"
        popover="auto"
        onToggle={(event) => {
          if (event.newState === 'open') place(event.currentTarget);
        }}
        {...closing}
      >
        {children}
      </div>
    </>
  );
}
