/** Creates a key, then shows its secret or, for a key with a trust, the step of a workflow that uses it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType, VNode } from 'preact';
import type { Fields } from '../../fields.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice } from '../../parts/choice.tsx';
import { lazyPart } from '../../parts/lazy-page.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { text } from '../../text/text.ts';
import { KeyFields, newKeyOf } from './key-fields.tsx';
import { ownerRights, type KeyOwner, type NewKey, type SecretExamplesProps } from './key-owner.ts';
import { loadTrustParts, trustParts } from './trust-parts.ts';

/** If its keys can have a trust. */
type WithTrust = Pick<KeyOwner, 'createWithTrust' | 'get'>;

export interface NewKeyDialogProps {
  readonly owner: Pick<KeyOwner, 'scopes'> &
    Partial<WithTrust> & {
      /** @param fields of the whole form */
      readonly create: (body: NewKey, fields: Fields) => ReturnType<KeyOwner['create']>;
    };
  readonly SecretExamples: ComponentType<SecretExamplesProps>;
  /** Below the fields of the key. */
  readonly children?: ComponentChildren;
  /** @param isCreated false if the person cancelled */
  readonly onClose: (isCreated: boolean) => void;
}

const TrustFields = lazyPart(async () => (await loadTrustParts()).TrustFields);

export function NewKeyDialog({ owner, SecretExamples, children, onClose }: NewKeyDialogProps) {
  /** The dialog that replaces the form. */
  const created = useSignal<VNode>();
  const hasTrust = useSignal(false);
  const close = (): void => onClose(true);
  const create = async (fields: Fields): Promise<VNode> => {
    const { createWithTrust, get } = owner;
    if (hasTrust.peek() && createWithTrust && get)
      return trustParts().createWithTrust({ createWithTrust, get }, fields, close);
    const body = newKeyOf(fields);
    const { key } = await owner.create(body, fields);
    return (
      <SecretDialog
        title={text.keys.created}
        secret={key}
        examples={<SecretExamples secret={key} scopes={body.scopes ?? []} />}
        onClose={close}
      />
    );
  };
  return (
    created.value ?? (
      <ActionDialog
        title={text.keys.create}
        size="large"
        onClose={() => created.peek() === undefined && onClose(false)}
        act={async (fields) => void (created.value = await create(fields))}
      >
        <KeyFields rights={ownerRights} scopes={owner.scopes}>
          {owner.createWithTrust && (
            <Choice
              name="trust"
              label={text.keys.withTrust}
              hint={text.keys.withTrustHint}
              onChange={(event) => void (hasTrust.value = event.currentTarget.checked)}
            />
          )}
          {hasTrust.value && <TrustFields />}
        </KeyFields>
        {children}
      </ActionDialog>
    )
  );
}
