/** A state in a word. The colour only supports it. */
import type { ComponentChildren } from 'preact';

interface BadgeProps {
  readonly tone?: 'neutral' | 'good' | 'warning' | 'bad';
  readonly children: ComponentChildren;
}

export const Badge = ({ tone = 'neutral', children }: BadgeProps) => <span class={`badge ${tone}`}>{children}</span>;
