/** The dialog of the console that creates a key. */
import { NewKeyDialog, type NewKeyDialogProps } from './new-key-dialog.tsx';
import { SecretCommands } from './secret-commands.tsx';

export type CreateKeyDialogProps = Omit<NewKeyDialogProps, 'SecretExamples'>;

export const CreateKeyDialog = (props: CreateKeyDialogProps) => (
  <NewKeyDialog SecretExamples={SecretCommands} {...props} />
);
