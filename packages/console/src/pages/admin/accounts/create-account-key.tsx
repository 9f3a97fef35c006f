/** Creates a key of another account: of a service account, or of a person, who gets a mail about it. */
import { call } from '../../../api.ts';
import { Notice } from '../../../parts/notice.tsx';
import { ProofFields, sendProof } from '../../../parts/proof-fields.tsx';
import { hasPasskeys } from '../../../passkey.ts';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { CreateKeyDialog, type CreateKeyDialogProps } from '../../keys/create-key-dialog.tsx';
import { offeredScopes } from '../../keys/offered-scopes.ts';
import type { AccountDetail } from './account.tsx';

interface CreateAccountKeyProps extends Pick<CreateKeyDialogProps, 'onClose'> {
  readonly account: Pick<AccountDetail, 'id' | 'kind'>;
}

const scopesForOthers = offeredScopes(false);

export function CreateAccountKey({ account: { id, kind }, onClose }: CreateAccountKeyProps) {
  const params = { id };
  const own = useResource((signal) => call('GET /auth/account', { signal }));
  const isOfPerson = kind === 'person';
  const create: CreateKeyDialogProps['owner']['create'] = (key, fields) =>
    isOfPerson
      ? sendProof(fields, (proof) => call('POST /admin/accounts/:id/api-keys', { params, body: { ...key, ...proof } }))
      : call('POST /admin/accounts/:id/api-keys', { params, body: key });
  return (
    <CreateKeyDialog owner={{ scopes: scopesForOthers, create }} onClose={onClose}>
      {isOfPerson && (
        <>
          <Notice>
            <p>{adminText.managementKeys.ofPerson}</p>
          </Notice>
          <ProofFields needsCode mayUsePasskey={Boolean(own.value?.passkeys) && hasPasskeys()} />
        </>
      )}
    </CreateKeyDialog>
  );
}
