/** Fetches the signing keys of an issuer anew, on all instances, and shows which ones there are. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { Chips } from '../../../parts/chips.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Form } from '../../../parts/form.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Step } from '../../../parts/step.tsx';
import { useAction } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import type { DialogProps } from '../declared-page.tsx';
import type { Issuer } from './issuer-fields.tsx';

export function RefreshDialog({ of: { id, url }, onClose }: DialogProps<Issuer>) {
  const result = useSignal<ResponseOf<'POST /admin/issuers/:id/refresh'>>();
  const action = useAction(async () => {
    result.value = await call('POST /admin/issuers/:id/refresh', { params: { id } });
  });
  const texts = adminText.issuers;
  return (
    <Dialog title={texts.refreshTitle} onClose={onClose}>
      <p>
        <bdi class="code wrap">{url}</bdi>
      </p>
      {result.value ? (
        <Step>
          {result.value.failure === null ? (
            <Notice tone="success" role="status">
              <p>{texts.refreshed}</p>
              <Chips values={result.value.keyIds.map((kid) => kid ?? text.general.none)} none={text.general.none} />
            </Notice>
          ) : (
            <Notice tone="error" role="alert">
              <p>{texts.notFetched}</p>
              <ServerText>{result.value.failure}</ServerText>
            </Notice>
          )}
          <div class="actions end">
            <Button kind="primary" autofocus onClick={onClose}>
              {text.general.close}
            </Button>
          </div>
        </Step>
      ) : (
        <Form action={action} submit={texts.refresh} onCancel={onClose}>
          <p>{texts.refreshIntro}</p>
        </Form>
      )}
    </Dialog>
  );
}
