/** A form that sends JSON. A failed submission moves the focus to the message. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Fields } from '../fields.ts';
import type { Action } from '../resource.ts';
import { Button } from './button.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface FormProps {
  /** Receives the fields by name. */
  readonly action: Action<[fields: Fields]>;
  readonly submit: string;
  readonly kind?: 'primary' | 'danger';
  /** Beside the submit button. */
  readonly others?: ComponentChildren;
  readonly label?: string;
  readonly children?: ComponentChildren;
}

export function Form({ action, submit, kind = 'primary', others, label, children }: FormProps) {
  const message = useRef<HTMLDivElement>(null);
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (await action.run(new Fields(form))) return;
    const invalid = form.querySelector<HTMLElement>('[aria-invalid=true]');
    (invalid ?? message.current)?.focus();
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)} aria-label={label} class="form">
      <div ref={message} tabIndex={-1} class="form-message">
        {action.problem && <ProblemNotice problem={action.problem} />}
      </div>
      {children}
      <div class="actions">
        <Button type="submit" kind={kind} isBusy={action.isRunning}>
          {submit}
        </Button>
        {others}
      </div>
    </form>
  );
}
