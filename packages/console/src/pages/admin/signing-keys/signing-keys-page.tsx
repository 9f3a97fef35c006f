/** The keys that sign access tokens, and their rotation. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';

type SigningKey = ResponseOf<'GET /admin/signing-keys'>['signingKeys'][number];

export function SigningKeysPage() {
  const rotation = useSignal<'regular' | 'immediate'>();
  const keys = useResource((signal) => call('GET /admin/signing-keys', { signal }));
  const texts = adminText.signingKeys;
  const close = () => void (rotation.value = undefined);
  const rotate = (immediately: boolean, sentence: string) => async () => {
    await call('POST /admin/signing-keys/rotate', { body: { immediately } });
    announce(sentence);
    await keys.reload();
  };
  return (
    <Page
      title={adminText.general.signingKeys}
      intro={texts.intro}
      actions={
        <>
          <Button onClick={() => void (rotation.value = 'immediate')}>{texts.rotateNow}</Button>
          <Button kind="primary" onClick={() => void (rotation.value = 'regular')}>
            {texts.rotate}
          </Button>
        </>
      }
    >
      <div class="list">
        <Loaded of={keys} rows={2}>
          {({ signingKeys }) => (
            <Table
              label={adminText.general.signingKeys}
              rows={signingKeys}
              keyOf={({ kid }) => kid}
              columns={columns()}
            />
          )}
        </Loaded>
      </div>
      {rotation.value === 'regular' && (
        <ActionDialog
          title={texts.rotateTitle}
          submit={texts.rotate}
          onClose={close}
          act={rotate(false, texts.rotated)}
        >
          <p>{texts.rotateIntro}</p>
        </ActionDialog>
      )}
      {rotation.value === 'immediate' && (
        <ActionDialog
          title={texts.rotateNowTitle}
          submit={texts.rotateNowSubmit}
          kind="danger"
          onClose={close}
          act={rotate(true, texts.rotatedNow)}
        >
          <p>{texts.rotateNowIntro}</p>
        </ActionDialog>
      )}
    </Page>
  );
}

const tones = { next: 'neutral', active: 'good', retired: 'neutral' } as const;

function columns(): readonly Column<SigningKey>[] {
  const texts = adminText.signingKeys;
  return [
    { label: texts.kid, cell: ({ kid }) => <code>{kid}</code> },
    { label: texts.alg, priority: 'medium', cell: ({ alg }) => alg },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ state }) => <Badge tone={tones[state]}>{texts.states[state]}</Badge>,
    },
    { label: text.general.created, priority: 'medium', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: texts.signsFrom, priority: 'below', cell: ({ activatesAt }) => <Time at={activatesAt} as="dateTime" /> },
  ];
}
