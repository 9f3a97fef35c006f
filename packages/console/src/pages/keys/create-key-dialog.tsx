/** Creates a key, then shows its secret. */
import { useSignal } from '@preact/signals';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { text } from '../../text/text.ts';
import { KeyFields, newKeyOf } from './key-fields.tsx';
import type { KeyOwner } from './key-owner.ts';
import { KeySecretDialog } from './secret-dialog.tsx';

export interface CreateKeyDialogProps {
  readonly owner: KeyOwner;
  /** @param isCreated false if the person cancelled */
  readonly onClose: (isCreated: boolean) => void;
}

export function CreateKeyDialog({ owner, onClose }: CreateKeyDialogProps) {
  const secret = useSignal<string>();
  return secret.value === undefined ? (
    <ActionDialog
      title={text.keys.create}
      size="large"
      onClose={() => secret.peek() === undefined && onClose(false)}
      act={async (fields) => (secret.value = (await owner.create(newKeyOf(fields))).key)}
    >
      <KeyFields isOwn={owner.isOwn} />
    </ActionDialog>
  ) : (
    <KeySecretDialog title={text.keys.created} secret={secret.value} onClose={() => onClose(true)} />
  );
}
