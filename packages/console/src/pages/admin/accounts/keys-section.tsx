/** The API keys of an account. */
import { useSignal, type Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { Section } from '../../../parts/section.tsx';
import type { Column } from '../../../parts/table.tsx';
import { prepareProof } from '../../../recent-sign-in.ts';
import { config, session } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { deletion, DeletionNotice } from '../../keys/delete-key-dialog.tsx';
import { keyColumns } from '../../keys/key-columns.tsx';
import { ownedKeyPath, type OwnedKey } from '../keys/administered-keys.ts';
import type { AccountDetail } from './account.tsx';
import { CreateAccountKey } from './create-account-key.tsx';
import { ManagementKeyDialog } from './management-key-dialog.tsx';

function columns(): readonly Column<OwnedKey>[] {
  const { nickname, hint, lastUsed, expires, state } = keyColumns<OwnedKey>(ownedKeyPath);
  return [nickname, hint, lastUsed, expires, state];
}

interface KeysSectionProps {
  readonly account: AccountDetail;
  readonly changes: Signal<number>;
}

export function KeysSection({ account, changes }: KeysSectionProps) {
  const { id, kind } = account;
  const opened = useSignal<'key' | 'managementKey'>();
  const list = useList<OwnedKey>([], async (query, signal) => {
    void changes.value;
    const page = await call('GET /admin/api-keys', { query: { limit: '20', ...query, owner: id }, signal });
    return { items: page.apiKeys, nextCursor: page.nextCursor };
  });
  useLayoutEffect(() => () => void (deletion.value = undefined), []);
  const { mail, managementKeys } = config.value?.features ?? {};
  const isService = kind === 'service';
  // A person gets a mail about a key. For the own account there is the page of its keys.
  const mayCreate = isService || (mail && id !== session.value?.account.id);
  const create = async (): Promise<void> => {
    if (isService || (await prepareProof())) opened.value = 'key';
  };
  const close = (isCreated: boolean): void => {
    opened.value = undefined;
    if (isCreated) changes.value++;
  };
  return (
    <Section
      title={text.general.keys}
      actions={
        mayCreate && (
          <>
            {isService && managementKeys && (
              <Button onClick={() => void (opened.value = 'managementKey')}>{adminText.managementKeys.create}</Button>
            )}
            <Button onClick={() => void create()}>{text.keys.create}</Button>
          </>
        )
      }
    >
      <DeletionNotice />
      <PagedTable
        list={list}
        defaultSize="20"
        label={text.general.keys}
        keyOf={(key) => key.id}
        columns={columns()}
        empty={<Empty title={adminText.accounts.noKeys} />}
      />
      {opened.value === 'key' && <CreateAccountKey account={account} onClose={close} />}
      {opened.value === 'managementKey' && (
        <ManagementKeyDialog accountId={id} onClose={(created) => close(created !== undefined)} />
      )}
    </Section>
  );
}
