/** Finds the key and the owner of a secret. The secret is in the body of the request, never in a URL. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import type { Fields } from '../../../fields.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Field } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import { Step } from '../../../parts/step.tsx';
import { useAction } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { KeyState } from '../../keys/key-state.tsx';
import { accountPath, nameOf } from '../accounts/account.tsx';
import { ownedKeyPath } from './administered-keys.ts';

type FoundKey = ResponseOf<'POST /admin/api-keys/find'>;

interface FindKeyDialogProps {
  /** What the person typed into the search field. */
  readonly secret: string;
  readonly onClose: () => void;
}

export function FindKeyDialog({ secret, onClose }: FindKeyDialogProps) {
  const found = useSignal<FoundKey>();
  const find = useAction(async (fields: Fields) => {
    found.value = await call('POST /admin/api-keys/find', { body: { key: fields.text('key').trim() } });
  });
  return (
    <Dialog title={adminText.keys.findTitle} onClose={onClose}>
      {found.value ? (
        <Step>
          <Result of={found.value} />
          <div class="actions end">
            <Button onClick={onClose}>{text.general.close}</Button>
          </div>
        </Step>
      ) : (
        <Form action={find} submit={adminText.keys.find} onCancel={onClose}>
          <p>{adminText.keys.findIntro}</p>
          <Field
            label={text.keys.secret}
            name="key"
            look="code"
            defaultValue={secret}
            autofocus
            codes={['key_not_found']}
          />
        </Form>
      )}
    </Dialog>
  );
}

const Result = ({ of }: { readonly of: FoundKey }) => (
  <Facts
    facts={[
      [
        text.keys.key,
        <a href={ownedKeyPath(of)} data-first key="key">
          <bdi>{of.nickname}</bdi>
        </a>,
      ],
      [
        adminText.keys.owner,
        <a href={accountPath(of.owner.id)} key="owner">
          <bdi>{nameOf(of.owner)}</bdi>
        </a>,
      ],
      [text.keys.secret, adminText.keys.secrets[of.secret]],
      [text.general.state, <KeyState of={of} key="state" />],
    ]}
  />
);
