/** Declares a scope, or changes one. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Choice } from '../../../parts/choice.tsx';
import { Field } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';

export type Scope = ResponseOf<'GET /admin/scopes'>['scopes'][number];

interface ScopeDialogProps {
  /** Absent for a new one. */
  readonly current?: Scope;
  readonly onClose: () => void;
  readonly onSaved: (sentence: string) => void;
}

export function ScopeDialog({ current, onClose, onSaved }: ScopeDialogProps) {
  const isEntitled = useSignal(current?.entitled ?? false);
  const isNarrowing = isEntitled.value && !(current?.entitled && current.deletedAt === null);
  const title = current ? adminText.scopes.change : adminText.scopes.declare;
  return (
    <ActionDialog
      title={title}
      onClose={onClose}
      act={async (fields) => {
        const name = current?.name ?? fields.text('name').trim();
        const body = { description: fields.text('description').trim(), entitled: fields.isChecked('entitled') };
        await call('PUT /admin/scopes/:name', { params: { name }, body });
        onSaved(adminText.scopes.saved(name));
      }}
    >
      {current ? (
        <p>
          <code>{current.name}</code>
        </p>
      ) : (
        <Field
          label={text.general.name}
          name="name"
          look="code"
          autofocus
          maxLength={64}
          placeholder="orders:read"
          hint={adminText.scopes.nameHint}
          codes={['scope_invalid']}
        />
      )}
      <Field
        label={adminText.scopes.description}
        name="description"
        autocomplete="off"
        maxLength={256}
        defaultValue={current?.description ?? ''}
        hint={adminText.scopes.descriptionHint}
        pointer="/description"
      />
      <Choice
        name="entitled"
        label={adminText.scopes.entitled}
        hint={adminText.scopes.entitledHint}
        defaultChecked={current?.entitled ?? false}
        onChange={(event) => void (isEntitled.value = event.currentTarget.checked)}
      />
      {isNarrowing && <Notice tone="warning">{adminText.scopes.entitledWarning}</Notice>}
      {current?.deletedAt && <Notice tone="warning">{adminText.scopes.againWarning}</Notice>}
    </ActionDialog>
  );
}
