/** Shows a resource: a skeleton while it loads for the first time, a message if it fails, otherwise its content. */
import type { ComponentChildren } from 'preact';
import type { Resource } from '../resource.ts';
import { outage } from '../outage.ts';
import { text } from '../text/text.ts';
import { Icon, type IconName } from './icon.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { Skeleton } from './skeleton.tsx';

interface LoadedProps<T> {
  readonly of: Resource<T>;
  /** Rows of the skeleton. */
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}

export function Loaded<T>({ of: { value, problem, isLoading, reload }, rows = 3, children }: LoadedProps<T>) {
  return (
    <div aria-busy={isLoading}>
      {problem && (
        <ProblemNotice
          problem={problem}
          // The banner has the cause.
          sentence={problem.code === outage.value && text.general.loadFailed}
          onRetry={() => void reload()}
        />
      )}
      {value === undefined ? !problem && <Skeleton rows={rows} /> : children(value)}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly icon?: IconName;
  /** What to do: a sentence, a command, a button. */
  readonly children?: ComponentChildren;
}

/** An empty list: what it is for, and what to do. */
export const Empty = ({ title, icon, children }: EmptyProps) => (
  <div class="empty">
    {icon && (
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
    )}
    <p class="empty-title">{title}</p>
    {children}
  </div>
);
