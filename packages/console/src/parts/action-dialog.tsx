/** A dialog with a form: one request, which closes the dialog when it succeeds. */
import type { ComponentChildren } from 'preact';
import type { Fields } from '../fields.ts';
import { useAction } from '../resource.ts';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

interface ActionDialogProps {
  readonly title: string;
  /** Of the main button. Default: the title. */
  readonly submit?: string;
  readonly kind?: 'primary' | 'danger';
  readonly size?: 'small' | 'large';
  readonly act: (fields: Fields) => Promise<unknown>;
  /** After the success, and when the person cancels. */
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function ActionDialog({ title, kind = 'primary', size, act, onClose, ...rest }: ActionDialogProps) {
  const { submit = title, children } = rest;
  const action = useAction(async (fields: Fields) => {
    await act(fields);
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose} {...(size && { size })}>
      <Form action={action} submit={submit} kind={kind} onCancel={onClose}>
        {children}
      </Form>
    </Dialog>
  );
}
