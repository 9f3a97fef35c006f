/** One key of an account, for administrators. */
import { ConsoleKeyView } from '../../keys/console-key-view.tsx';
import { administeredKeysOf } from '../keys/administered-keys.ts';

/** The parameters are from the URL. */
export const AdministeredKeyPage = ({ id, keyId }: { readonly id: string; readonly keyId: string }) => (
  <ConsoleKeyView owner={administeredKeysOf(id)} id={Number(keyId)} key={keyId} />
);
