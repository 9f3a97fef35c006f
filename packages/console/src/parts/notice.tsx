/** A framed message in a page. */
import type { ComponentChildren } from 'preact';

interface NoticeProps {
  readonly tone?: 'info' | 'success' | 'warning' | 'error';
  readonly role?: 'alert' | 'status';
  readonly children: ComponentChildren;
}

export const Notice = ({ tone = 'info', role, children }: NoticeProps) => (
  <div class={`notice ${tone}`} role={role}>
    {children}
  </div>
);
