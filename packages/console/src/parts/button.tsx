/** Buttons. One kind for the main action of a view, one for actions that destroy something, one for all others. */
import type { ComponentChildren, ButtonHTMLAttributes } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'loading'> {
  readonly kind?: 'primary' | 'danger' | 'plain' | 'quiet';
  /** While a request runs, the button stays focusable and ignores clicks. */
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}

export const Button = ({
  kind = 'plain',
  isBusy = false,
  type = 'button',
  onClick,
  children,
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type}
    class={`button ${kind}`}
    aria-disabled={isBusy || undefined}
    aria-busy={isBusy || undefined}
    {...(isBusy ? { onClick: (event: Event) => event.preventDefault() } : onClick ? { onClick } : {})}
  >
    {children}
  </button>
);
