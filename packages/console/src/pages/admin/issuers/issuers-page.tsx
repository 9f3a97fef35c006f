/** The issuers of identity tokens that the keys of all accounts may trust: declaration, change and removal. */
import { useSignal } from '@preact/signals';
import { call } from '../../../api.ts';
import { formatNumber } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Page } from '../../../parts/page.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { issuerChangeIn, newIssuerIn, NewIssuerFields, SettingFields, type Issuer } from './issuer-fields.tsx';
import { RefreshDialog } from './refresh-dialog.tsx';

type Action = 'change' | 'refresh' | 'remove';

export function IssuersPage() {
  const isAdding = useSignal(false);
  const opened = useSignal<{ readonly action: Action; readonly issuer: Issuer }>();
  const list = useResource((signal) => call('GET /admin/issuers', { signal }));
  const texts = adminText.issuers;
  const onChanged = (sentence: string): void => {
    announce(sentence);
    void list.reload();
  };
  const add = (
    <Button kind="primary" icon="plus" onClick={() => void (isAdding.value = true)}>
      {texts.add}
    </Button>
  );
  const isEmpty = list.value?.issuers.length === 0;
  return (
    <Page title={texts.title} intro={texts.intro} actions={!isEmpty && add}>
      <div class="list">
        <Loaded of={list}>
          {({ issuers }) =>
            issuers.length === 0 ? (
              <Empty title={texts.none}>
                <p>{texts.noneIntro}</p>
                {add}
              </Empty>
            ) : (
              <Table
                label={texts.title}
                rows={issuers}
                keyOf={({ id }) => id}
                columns={columnsOf((action, issuer) => void (opened.value = { action, issuer }))}
              />
            )
          }
        </Loaded>
      </div>
      {isAdding.value && (
        <ActionDialog
          title={texts.add}
          size="large"
          onClose={() => void (isAdding.value = false)}
          act={async (fields) => {
            const { url } = await call('POST /admin/issuers', { body: newIssuerIn(fields) });
            onChanged(texts.saved(url));
          }}
        >
          <NewIssuerFields />
        </ActionDialog>
      )}
      {opened.value && (
        <IssuerDialog {...opened.value} onChanged={onChanged} onClose={() => void (opened.value = undefined)} />
      )}
    </Page>
  );
}

const columnsOf = (open: (action: Action, issuer: Issuer) => void): readonly Column<Issuer>[] => {
  const texts = adminText.issuers;
  return [
    { label: texts.url, cell: ({ url }) => <bdi class="code wrap">{url}</bdi> },
    {
      label: texts.preset,
      priority: 'medium',
      cell: ({ preset }) => (preset ? texts.presets[preset] : text.general.none),
    },
    { label: texts.replay, priority: 'low', cell: ({ replay }) => texts.replays[replay] },
    {
      label: texts.keys,
      priority: 'below',
      cell: ({ keys }) => texts.keyCount(keys, formatNumber(keys)),
    },
    { label: text.general.changed, priority: 'low', cell: ({ updatedAt }) => <Time at={updatedAt} as="date" /> },
    {
      label: text.general.actions,
      isLabelHidden: true,
      align: 'end',
      cell: (issuer) => (
        <Menu label={texts.actionsOf(issuer.url)}>
          <button type="button" onClick={() => open('change', issuer)}>
            {texts.change}
          </button>
          {!issuer.jwks && (
            <button type="button" onClick={() => open('refresh', issuer)}>
              {texts.refresh}
            </button>
          )}
          <button type="button" class="danger" onClick={() => open('remove', issuer)}>
            {texts.remove}
          </button>
        </Menu>
      ),
    },
  ];
};

interface DialogProps {
  readonly issuer: Issuer;
  readonly onChanged: (sentence: string) => void;
  readonly onClose: () => void;
}

function IssuerDialog({ action, ...props }: DialogProps & { readonly action: Action }) {
  const { issuer, onChanged, onClose } = props;
  const texts = adminText.issuers;
  if (action === 'refresh') return <RefreshDialog issuer={issuer} onClose={onClose} />;
  if (action === 'remove') return <RemovalDialog {...props} />;
  return (
    <ActionDialog
      title={texts.change}
      submit={text.general.save}
      size="large"
      onClose={onClose}
      act={async (fields) => {
        const body = issuerChangeIn(fields, issuer);
        if (body) await call('PATCH /admin/issuers/:id', { params: { id: issuer.id }, body });
        onChanged(texts.saved(issuer.url));
      }}
    >
      <p>
        <bdi class="code wrap">{issuer.url}</bdi>
      </p>
      <Notice tone="warning">{texts.narrowing}</Notice>
      <SettingFields of={issuer} />
    </ActionDialog>
  );
}

function RemovalDialog({ issuer, onChanged, onClose }: DialogProps) {
  const texts = adminText.issuers;
  const params = { id: issuer.id };
  // The list may be older than the newest key.
  const current = useResource((signal) => call('GET /admin/issuers/:id', { params, signal }));
  return (
    <ActionDialog
      title={texts.removeTitle}
      submit={texts.remove}
      kind="danger"
      onClose={onClose}
      act={async () => {
        await call('DELETE /admin/issuers/:id', { params });
        onChanged(texts.removed);
      }}
    >
      <p>
        <bdi class="code wrap">{issuer.url}</bdi>
      </p>
      <Loaded of={current} rows={1}>
        {({ keys }) => <p>{texts.trusting(keys, formatNumber(keys))}</p>}
      </Loaded>
      <p>{texts.removeIntro}</p>
    </ActionDialog>
  );
}
