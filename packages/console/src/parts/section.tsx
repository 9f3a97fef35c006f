/** A card with a heading: one subject of a page. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface SectionProps {
  readonly title: string;
  /** A state, beside the heading. */
  readonly badge?: ComponentChildren;
  readonly description?: ComponentChildren;
  /** Buttons beside the heading. */
  readonly actions?: ComponentChildren;
  /** For actions that destroy something. */
  readonly tone?: 'plain' | 'danger';
  readonly children?: ComponentChildren;
}

export function Section({ title, badge, description, actions, tone = 'plain', children }: SectionProps) {
  const id = useId();
  return (
    <section class={`card ${tone}`} aria-labelledby={id}>
      <div class="section-header">
        <div class="section-heading">
          <div class="section-title">
            <h2 id={id}>{title}</h2>
            {badge}
          </div>
          {description && <p class="description">{description}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
