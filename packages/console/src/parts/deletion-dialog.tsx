/** The dialog of a deletion, which the person confirms with the name of what is deleted. */
import { Problem } from '../problem.ts';
import { ActionDialog } from './action-dialog.tsx';
import { Field } from './field.tsx';

interface DeletionDialogProps {
  readonly title: string;
  readonly submit: string;
  /** What the deletion ends. */
  readonly intro: string;
  /** Of the field for the name. */
  readonly label: string;
  readonly name: string;
  readonly remove: () => Promise<void>;
  readonly onClose: () => void;
}

export const DeletionDialog = ({ title, submit, intro, label, name, remove, onClose }: DeletionDialogProps) => (
  <ActionDialog
    title={title}
    submit={submit}
    kind="danger"
    onClose={onClose}
    act={async (fields) => {
      if (fields.text('name').trim() !== name) throw new Problem('name_differs', 0);
      await remove();
    }}
  >
    <p>{intro}</p>
    <Field label={label} name="name" autocomplete="off" autofocus codes={['name_differs']} />
  </ActionDialog>
);
