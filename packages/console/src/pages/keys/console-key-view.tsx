/** The page of the console about a key of any owner. The rotation loads later, with the parts about keys with a trust. */
import { lazyPart } from '../../parts/lazy-page.tsx';
import { KeyUse } from './key-use.tsx';
import { KeyView, type KeyViewProps } from './key-view.tsx';
import { loadTrustParts } from './trust-parts.ts';

const RotateDialog = lazyPart(async () => (await loadTrustParts()).RotateDialog);

export const ConsoleKeyView = (props: Pick<KeyViewProps, 'owner' | 'id'>) => (
  <KeyView {...props} UseSection={KeyUse} RotateDialog={RotateDialog} />
);
