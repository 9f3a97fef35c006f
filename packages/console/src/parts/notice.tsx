/** A framed message in a page. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface NoticeProps {
  readonly tone?: 'info' | 'success' | 'warning' | 'error';
  readonly role?: 'alert' | 'status';
  readonly children: ComponentChildren;
}

export const Notice = ({ tone = 'info', role, children }: NoticeProps) => (
  <div class={`notice ${tone}`} role={role}>
    <Icon name={tone} />
    <div class="notice-body">{children}</div>
  </div>
);
