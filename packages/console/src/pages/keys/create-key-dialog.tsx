/** Creates a key, then shows its secret. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Fields } from '../../fields.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { text } from '../../text/text.ts';
import { KeyFields, newKeyOf } from './key-fields.tsx';
import type { KeyOwner, NewKey } from './key-owner.ts';
import { KeySecretDialog } from './secret-dialog.tsx';

export interface CreateKeyDialogProps {
  readonly owner: Pick<KeyOwner, 'isOwn'> & {
    /** @param fields of the whole form */
    readonly create: (body: NewKey, fields: Fields) => ReturnType<KeyOwner['create']>;
  };
  /** Below the fields of the key. */
  readonly children?: ComponentChildren;
  /** @param isCreated false if the person cancelled */
  readonly onClose: (isCreated: boolean) => void;
}

export function CreateKeyDialog({ owner, children, onClose }: CreateKeyDialogProps) {
  const created = useSignal<{ readonly key: string; readonly scopes: readonly string[] }>();
  return created.value === undefined ? (
    <ActionDialog
      title={text.keys.create}
      size="large"
      onClose={() => created.peek() === undefined && onClose(false)}
      act={async (fields) => {
        const body = newKeyOf(fields);
        const { key } = await owner.create(body, fields);
        created.value = { key, scopes: body.scopes ?? [] };
      }}
    >
      <KeyFields isOwn={owner.isOwn} />
      {children}
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
