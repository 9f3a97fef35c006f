/** Shows a secret that the server sends once. Nothing of it remains after the dialog is closed. */
import { useSignal } from '@preact/signals';
import { useContext } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Choice } from './choice.tsx';
import { CopyField } from './copy-field.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { SecondStep } from './second-step.ts';
import { text } from '../text/text.ts';

export interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
  /** Above the secret. */
  readonly children?: ComponentChildren;
  /** Fields that contain the secret, below it. */
  readonly examples?: ComponentChildren;
}

export function SecretDialog({ title, secret, onClose, children, examples }: SecretDialogProps) {
  const isStored = useSignal(false);
  /** Whether the person tried to close the dialog without having stored the secret. */
  const isAsking = useSignal(false);
  const { focusesCopy } = useContext(SecondStep);
  return (
    <Dialog
      title={title}
      size="large"
      hasNoCloseButton
      focus={focusesCopy ? 'first' : 'heading'}
      onClose={() => (isStored.value ? onClose() : (isAsking.value = true))}
    >
      {children}
      <p>{text.keys.secretOnce}</p>
      <CopyField label={text.keys.secret} value={secret} autofocus={focusesCopy} />
      {examples}
      <Choice
        name="stored"
        label={text.keys.stored}
        onChange={(event) => void (isStored.value = event.currentTarget.checked)}
      />
      {isAsking.value && !isStored.value ? (
        <Notice tone="warning" role="alert">
          <p>{text.keys.closeUnstored}</p>
          <div class="actions">
            <Button kind="danger" onClick={onClose}>
              {text.keys.closeAnyway}
            </Button>
            <Button onClick={() => void (isAsking.value = false)}>{text.general.cancel}</Button>
          </div>
        </Notice>
      ) : (
        <div class="actions end">
          <Button kind="primary" isBlocked={!isStored.value} onClick={onClose}>
            {text.general.close}
          </Button>
        </div>
      )}
    </Dialog>
  );
}
