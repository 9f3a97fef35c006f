/** The API keys of an account. */
import type { Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { Section } from '../../../parts/section.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { deletion, DeletionNotice } from '../../keys/delete-key-dialog.tsx';
import { KeyState } from '../../keys/key-state.tsx';
import { ownedKeyPath, type OwnedKey } from '../keys/administered-keys.ts';

const columns = (): readonly Column<OwnedKey>[] => [
  {
    label: text.keys.nickname,
    cell: (key) => (
      <a class="row-link nickname" href={ownedKeyPath(key)} title={key.nickname}>
        <bdi>{key.nickname}</bdi>
      </a>
    ),
  },
  {
    label: text.keys.hint,
    priority: 'medium',
    cell: ({ hint, publicKey }) => <code class="one-line">{hint ?? publicKey?.crv}</code>,
  },
  { label: text.keys.lastUsed, priority: 'medium', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { label: text.keys.expires, priority: 'low', cell: ({ expiresAt }) => <Time at={expiresAt} as="date" /> },
  { label: text.keys.state, priority: 'below', cell: (key) => <KeyState of={key} /> },
];

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
    <Section title={adminText.accounts.keys}>
      <DeletionNotice />
      <Loaded of={list}>
        {({ items }) =>
          items.length === 0 && !list.previous ? (
            <Empty title={adminText.accounts.noKeys} />
          ) : (
            <Table label={adminText.accounts.keys} columns={columns()} rows={items} keyOf={(key) => key.id} />
          )
        }
      </Loaded>
      <Pager list={list} defaultSize="20" />
    </Section>
  );
}
