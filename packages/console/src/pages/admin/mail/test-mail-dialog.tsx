/** Sends the administrator a test mail, and shows the answer of the mail server. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Form } from '../../../parts/form.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Step } from '../../../parts/step.tsx';
import { useAction } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';

export function TestMailDialog({ onClose }: { readonly onClose: () => void }) {
  const result = useSignal<ResponseOf<'POST /admin/mail/test'>>();
  const test = useAction(async () => void (result.value = await call('POST /admin/mail/test')));
  const texts = adminText.mail;
  if (!result.value)
    return (
      <Dialog title={texts.test} onClose={onClose}>
        <Form action={test} submit={texts.testSubmit} onCancel={onClose}>
          <p>{texts.testIntro}</p>
        </Form>
      </Dialog>
    );
  const { to, delivered, response, failure } = result.value;
  return (
    <Dialog title={texts.test} onClose={onClose}>
      <Step>
        <Notice tone={delivered ? 'success' : 'error'}>
          <p>{delivered ? texts.sent(to) : texts.notSent(to)}</p>
          <p>
            <code>{response ?? failure}</code>
          </p>
        </Notice>
        <div class="actions end">
          <Button onClick={onClose} autofocus>
            {text.general.close}
          </Button>
        </div>
      </Step>
    </Dialog>
  );
}
