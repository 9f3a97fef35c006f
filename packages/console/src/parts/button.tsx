/** Buttons. One kind for the main action of a view, one for actions that destroy something, others for the rest. */
import type { ComponentChildren, ButtonHTMLAttributes } from 'preact';
import { markFirst } from './first-field.ts';
import type { Action } from '../resource.ts';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'loading' | 'icon' | 'autofocus' | 'action'> {
  /** For the main button of a dialog without fields. */
  readonly autofocus?: boolean;
  /** `link` looks like a link in a text. */
  readonly kind?: 'primary' | 'danger' | 'plain' | 'quiet' | 'link';
  /** For rows of tables and headers of sections. */
  readonly isSmall?: boolean;
  readonly icon?: IconName;
  /** Shows only the icon; the children remain the accessible name. */
  readonly isIconOnly?: boolean;
  /** While a request runs, the button stays focusable and ignores clicks. */
  readonly isBusy?: boolean;
  /** The request of a click, instead of `onClick` and `isBusy`. */
  readonly action?: Pick<Action<[]>, 'isRunning' | 'run'>;
  /** Stays focusable, unlike `disabled`, and ignores clicks. */
  readonly isBlocked?: boolean;
  readonly children: ComponentChildren;
}

export const Button = ({
  kind = 'plain',
  isSmall = false,
  icon,
  isIconOnly = false,
  action,
  isBusy = action?.isRunning ?? false,
  isBlocked = isBusy,
  autofocus,
  type = 'button',
  onClick = action && (() => void action.run()),
  children,
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    {...markFirst(autofocus)}
    type={type}
    class={`button ${kind}${isSmall ? ' small' : ''}${isIconOnly ? ' icon-only' : ''}`}
    aria-disabled={isBlocked || undefined}
    aria-busy={isBusy || undefined}
    {...(isBlocked ? { onClick: (event: Event) => event.preventDefault() } : onClick ? { onClick } : {})}
  >
    {icon && <Icon name={icon} />}
    {isIconOnly ? <span class="visually-hidden">{children}</span> : children}
  </button>
);
