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
  const created = useSignal<{ readonly key: string; readonly scopes: readonly string[] }>();
  return created.value === undefined ? (
    <ActionDialog
      title={text.keys.create}
      size="large"
      onClose={() => created.peek() === undefined && onClose(false)}
      act={async (fields) => {
        const body = newKeyOf(fields);
        const { key } = await owner.create(body);
        created.value = { key, scopes: body.scopes ?? [] };
      }}
    >
      <KeyFields isOwn={owner.isOwn} />
    </ActionDialog>
  ) : (
    <KeySecretDialog
      title={text.keys.created}
      secret={created.value.key}
      scopes={created.value.scopes}
      onClose={() => onClose(true)}
    />
  );
}
