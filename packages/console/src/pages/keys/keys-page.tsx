/** The list of the account's API keys. */
import { useSignal } from '@preact/signals';
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';
import { CreateKeyButton, KeyList, type KeyListProps } from './key-list.tsx';
import { keysOf } from './key-owner.ts';

const ownKeys = keysOf();

export function KeysPage({ CreateKeyDialog }: Pick<KeyListProps, 'CreateKeyDialog'>) {
  const isCreating = useSignal(false);
  return (
    <Page title={text.general.keys} intro={text.keys.intro} actions={<CreateKeyButton isCreating={isCreating} />}>
      <KeyList owner={ownKeys} CreateKeyDialog={CreateKeyDialog} isCreating={isCreating} />
    </Page>
  );
}
