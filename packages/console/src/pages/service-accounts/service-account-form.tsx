/** The name and the external id of a new or an existing service account. */
import type { ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { useAction } from '../../resource.ts';
import { text } from '../../text/text.ts';

export type ServiceAccount = ResponseOf<'GET /auth/service-accounts/:id'>;

interface ServiceAccountFormProps {
  readonly title: string;
  readonly submit: string;
  readonly account?: ServiceAccount;
  readonly onSubmit: (values: { readonly name: string; readonly externalId: string | undefined }) => Promise<void>;
  readonly onClose: () => void;
}

export function ServiceAccountForm({ title, submit, account, onSubmit, onClose }: ServiceAccountFormProps) {
  const action = useAction((fields: Fields) =>
    onSubmit({ name: fields.text('name').trim(), externalId: fields.optional('externalId') }),
  );
  const { problem } = action;
  const isAboutName = problem?.code === 'name_taken' || problem?.code === 'nickname_invalid';
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} submit={submit} others={<Button onClick={onClose}>{text.general.cancel}</Button>}>
        <Field
          label={text.serviceAccounts.name}
          name="name"
          autocomplete="off"
          autofocus
          hint={text.serviceAccounts.nameHint}
          defaultValue={account?.name}
          error={isAboutName ? problem.sentence : undefined}
        />
        <Field
          label={text.serviceAccounts.externalId}
          name="externalId"
          autocomplete="off"
          isOptional
          maxLength={128}
          hint={text.serviceAccounts.externalIdHint}
          defaultValue={account?.externalId ?? undefined}
          error={problem?.code === 'external_id_taken' ? problem.sentence : problem?.about('/externalId')}
        />
      </Form>
    </Dialog>
  );
}
