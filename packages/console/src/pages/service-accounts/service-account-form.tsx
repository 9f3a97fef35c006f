/** The name and the external id of a new or an existing service account. */
import type { ResponseOf } from '../../api.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { text } from '../../text/text.ts';

export type ServiceAccount = ResponseOf<'GET /auth/service-accounts/:id'>;

interface ServiceAccountFormProps {
  readonly title: string;
  readonly account?: ServiceAccount;
  readonly onSubmit: (values: { readonly name: string; readonly externalId: string | undefined }) => Promise<void>;
  readonly onClose: () => void;
}

export const ServiceAccountForm = ({ title, account, onSubmit, onClose }: ServiceAccountFormProps) => (
  <ActionDialog
    title={title}
    submit={account ? text.general.save : title}
    onClose={onClose}
    act={(fields) => onSubmit({ name: fields.text('name').trim(), externalId: fields.optional('externalId') })}
  >
    <Field
      label={text.general.name}
      name="name"
      autocomplete="off"
      autofocus
      hint={text.serviceAccounts.nameHint}
      defaultValue={account?.name}
      codes={['name_taken', 'nickname_invalid']}
    />
    <Field
      label={text.serviceAccounts.externalId}
      name="externalId"
      autocomplete="off"
      isOptional
      maxLength={128}
      hint={text.serviceAccounts.externalIdHint}
      defaultValue={account?.externalId ?? undefined}
      codes={['external_id_taken']}
      pointer="/externalId"
    />
  </ActionDialog>
);
