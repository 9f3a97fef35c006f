/** The API keys of an account. */
import type { Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Empty } from '../../../parts/loaded.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { Section } from '../../../parts/section.tsx';
import type { Column } from '../../../parts/table.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { deletion, DeletionNotice } from '../../keys/delete-key-dialog.tsx';
import { keyColumns } from '../../keys/key-columns.tsx';
import { ownedKeyPath, type OwnedKey } from '../keys/administered-keys.ts';

function columns(): readonly Column<OwnedKey>[] {
  const { nickname, hint, lastUsed, expires, state } = keyColumns<OwnedKey>(ownedKeyPath);
  return [nickname, hint, lastUsed, expires, state];
}

interface KeysSectionProps {
  readonly id: string;
  readonly changes: Signal<number>;
}

export function KeysSection({ id, changes }: KeysSectionProps) {
  const list = useList<OwnedKey>([], async (query, signal) => {
    void changes.value;
    const page = await call('GET /admin/api-keys', { query: { limit: '20', ...query, owner: id }, signal });
    return { items: page.apiKeys, nextCursor: page.nextCursor };
  });
  useLayoutEffect(() => () => void (deletion.value = undefined), []);
  return (
    <Section title={text.general.keys}>
      <DeletionNotice />
      <PagedTable
        list={list}
        defaultSize="20"
        label={text.general.keys}
        keyOf={(key) => key.id}
        columns={columns()}
        empty={<Empty title={adminText.accounts.noKeys} />}
      />
    </Section>
  );
}
