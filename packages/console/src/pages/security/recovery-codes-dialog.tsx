/**
 * Shows new recovery codes once. It is rendered beside the page (shell.tsx): a session that no longer has to enrol shows other
 * pages, which must not remove the codes.
 */
import { useRef } from 'preact/hooks';
import { formatDateTime } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Choice } from '../../parts/choice.tsx';
import { useCopy } from '../../parts/copy.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Notice } from '../../parts/notice.tsx';
import { announce } from '../../parts/announce.tsx';
import { productName } from '../../product-name.ts';
import { saveFile } from '../../save-file.ts';
import { config, reloadSession, session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { recoveryCodes } from './recovery-codes.ts';

/** After a second factor was added. @param sentence if the account keeps its earlier codes */
export async function showRecoveryCodes(codes: readonly string[], sentence: string): Promise<void> {
  if (codes.length > 0) {
    recoveryCodes.value = codes;
    return;
  }
  announce(sentence);
  await reloadSession();
}

function fileOf(codes: readonly string[]): string {
  const heading = text.security.codesFileHeading(
    productName(),
    session.value?.account.email ?? '',
    formatDateTime(new Date().toISOString()),
  );
  return [heading, config.value?.origin ?? '', '', ...codes, '', text.security.codesOnce, ''].join('\n');
}

export function RecoveryCodesDialog({ codes }: { readonly codes: readonly string[] }) {
  const { isCopied, copy } = useCopy();
  const form = useRef<HTMLFormElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const selectAndCopy = (): void => {
    if (list.current) getSelection()?.selectAllChildren(list.current);
    void copy(codes.join('\n'));
  };
  const close = async (): Promise<void> => {
    if (!form.current?.reportValidity()) return;
    recoveryCodes.value = undefined;
    await reloadSession();
    // The button that opened the dialog may no longer exist.
    document.querySelector('h1')?.focus();
  };
  return (
    <Dialog title={text.security.codesTitle} onClose={() => void close()} hasNoCloseButton>
      <div class="printed">
        <p>{text.security.codesIntro}</p>
        <ol ref={list} class="recovery-codes code" aria-label={text.security.recoveryCodes}>
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
      </div>
      <div class="actions">
        <Button autofocus icon={isCopied ? 'check' : 'copy'} onClick={selectAndCopy}>
          {isCopied ? text.general.copied : text.security.copyCodes}
        </Button>
        <Button onClick={() => saveFile(text.security.codesFileName, 'text/plain', fileOf(codes))}>
          {text.security.download}
        </Button>
        <Button onClick={() => print()}>{text.security.print}</Button>
      </div>
      <Notice tone="warning">{text.security.codesWarning}</Notice>
      <form
        ref={form}
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void close();
        }}
      >
        <Choice label={text.security.haveStored} name="stored" required />
        <div class="actions">
          <Button type="submit" kind="primary">
            {text.general.close}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
