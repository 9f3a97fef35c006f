/** The issuers of identity tokens that the keys of all accounts may trust: declaration, change and removal. */
import { call } from '../../../api.ts';
import { formatNumber } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Notice } from '../../../parts/notice.tsx';
import type { Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { DeclaredPage, RemovalDialog, type DialogProps, type EntryAction } from '../declared-page.tsx';
import { issuerChangeIn, newIssuerIn, NewIssuerFields, SettingFields, type Issuer } from './issuer-fields.tsx';
import { RefreshDialog } from './refresh-dialog.tsx';

export const IssuersPage = () => (
  <DeclaredPage
    texts={adminText.issuers}
    load={async (signal) => (await call('GET /admin/issuers', { signal })).issuers}
    keyOf={({ id }) => id}
    columns={columns()}
    actionsLabel={({ url }) => adminText.issuers.actionsOf(url)}
    actionsOf={actionsOf}
    NewFields={NewIssuerFields}
    add={async (fields) => {
      const { url } = await call('POST /admin/issuers', { body: newIssuerIn(fields) });
      return adminText.issuers.saved(url);
    }}
  />
);

function actionsOf({ jwks }: Issuer): readonly EntryAction<Issuer>[] {
  const texts = adminText.issuers;
  return [
    { label: texts.change, Dialog: ChangeDialog },
    ...(jwks ? [] : [{ label: texts.refresh, Dialog: RefreshDialog }]),
    { label: texts.remove, Dialog: IssuerRemovalDialog, isDangerous: true },
  ];
}

function columns(): readonly Column<Issuer>[] {
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
  ];
}

function ChangeDialog({ of: issuer, onChanged, onClose }: DialogProps<Issuer>) {
  const texts = adminText.issuers;
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

const IssuerRemovalDialog = ({ of: { id, url }, ...rest }: DialogProps<Issuer>) => (
  <RemovalDialog
    {...rest}
    texts={{ ...adminText.issuers, ofKeys: adminText.issuers.trusting }}
    name={<bdi class="code wrap">{url}</bdi>}
    countKeys={async (signal) => (await call('GET /admin/issuers/:id', { params: { id }, signal })).keys}
    remove={() => call('DELETE /admin/issuers/:id', { params: { id } })}
  />
);
