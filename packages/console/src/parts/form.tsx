/** A form that sends JSON. A failed submission moves the focus to the message, or to the first invalid field. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { secondsUntil } from '../clock.ts';
import { Fields } from '../fields.ts';
import { formatCountdown } from '../format.ts';
import type { Action } from '../resource.ts';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { FormProblem } from './field.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface FormProps {
  /** Receives the fields by name. */
  readonly action: Action<[fields: Fields]>;
  readonly submit: string;
  readonly kind?: 'primary' | 'danger';
  /** Adds a button that closes the form. */
  readonly onCancel?: (() => void) | undefined;
  /** Beside the submit button. */
  readonly others?: ComponentChildren;
  readonly label?: string;
  readonly children?: ComponentChildren;
}

export function Form({ action, submit, kind = 'primary', label, ...rest }: FormProps) {
  const { onCancel, others, children } = rest;
  const message = useRef<HTMLDivElement>(null);
  const { problem, isRunning } = action;
  const left = secondsUntil(problem?.retryAt ?? 0);
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    // The Enter key submits the form although the button is blocked.
    if (left > 0 || (await action.run(new Fields(form)))) return;
    const invalid = form.querySelector<HTMLInputElement>('[aria-invalid=true], [data-invalid] input:enabled');
    invalid?.closest('details')?.setAttribute('open', '');
    invalid?.select?.();
    (invalid ?? message.current)?.focus();
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)} aria-label={label} class="form">
      <div ref={message} tabIndex={-1} class="form-message">
        {problem && <ProblemNotice problem={problem} />}
      </div>
      <FormProblem.Provider value={problem}>{children}</FormProblem.Provider>
      <div class="actions">
        <Button type="submit" kind={kind} isBusy={isRunning} isBlocked={isRunning || left > 0}>
          {left > 0 ? text.general.retryIn(formatCountdown(left)) : submit}
        </Button>
        {onCancel && (
          <Button isBlocked={isRunning} onClick={onCancel}>
            {text.general.cancel}
          </Button>
        )}
        {others}
      </div>
    </form>
  );
}
