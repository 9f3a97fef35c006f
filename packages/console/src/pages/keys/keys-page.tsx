/** The list of the account's API keys. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';
import { isAdministrator } from '../../session.ts';
import { CreateKeyButton, KeyList, type KeyListProps } from './key-list.tsx';
import { keysOf } from './keys-of-account.ts';

const ownKeys = keysOf();

interface KeysPageProps extends Pick<KeyListProps, 'CreateKeyDialog'> {
  /** For administrators. Loads later, like the dialog. */
  readonly ProtectCard: ComponentType;
}

export function KeysPage({ CreateKeyDialog, ProtectCard }: KeysPageProps) {
  const isCreating = useSignal(false);
  return (
    <Page title={text.general.keys} intro={text.keys.intro} actions={<CreateKeyButton isCreating={isCreating} />}>
      {isAdministrator.value && <ProtectCard />}
      <KeyList owner={ownKeys} CreateKeyDialog={CreateKeyDialog} isCreating={isCreating} />
    </Page>
  );
}
