/** Whether a new key has been used: “waiting” until then. */
import { Icon } from './icon.tsx';

interface FirstUseProps {
  readonly isDone: boolean;
  /** The sentence until then, and the one afterwards. */
  readonly waiting: string;
  readonly done: string;
}

export const FirstUse = ({ isDone, waiting, done }: FirstUseProps) => (
  <p class={isDone ? 'first-verification done' : 'first-verification'}>
    <Icon name={isDone ? 'success' : 'wait'} />
    {isDone ? done : waiting}
  </p>
);
