/** One service account: its keys, details and managers. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call } from '../../api.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { Setting } from '../../parts/setting.tsx';
import { Time } from '../../parts/time.tsx';
import { Problem } from '../../problem.ts';
import { useResource, type Resource } from '../../resource.ts';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { CreateKeyDialog } from '../keys/create-key-dialog.tsx';
import { CreateKeyButton, KeyList } from '../keys/key-list.tsx';
import { keysOf } from '../keys/key-owner.ts';
import { KeyView } from '../keys/key-page.tsx';
import { ManagersSection } from './managers-section.tsx';
import { ServiceAccountForm, type ServiceAccount } from './service-account-form.tsx';
import { creatorOf } from './service-accounts-page.tsx';
import { root } from '../../root.ts';

/** A key of a service account. The parameters are from the URL. */
export const ServiceAccountKeyPage = ({ id, keyId }: { readonly id: string; readonly keyId: string }) => (
  <KeyView owner={keysOf(id)} id={Number(keyId)} key={keyId} />
);

/** @param id of the service account, from the URL */
export function ServiceAccountPage({ id }: { readonly id: string }) {
  const isCreating = useSignal(false);
  const account = useResource((signal) => call('GET /auth/service-accounts/:id', { params: { id }, signal }));
  return (
    <Page
      title={account.value?.name ?? text.serviceAccounts.one}
      parent={{ href: `${root}/service-accounts`, label: text.serviceAccounts.title }}
      actions={account.value && <CreateKeyButton isCreating={isCreating} />}
    >
      <Loaded of={account}>
        {(value) => (
          <div class="sections">
            <h2 class="visually-hidden">{text.general.keys}</h2>
            <KeyList owner={keysOf(id)} CreateKeyDialog={CreateKeyDialog} isCreating={isCreating} />
            <Sections account={value} resource={account} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface SectionsProps {
  readonly account: ServiceAccount;
  readonly resource: Resource<ServiceAccount>;
}

function Sections({ account, resource }: SectionsProps) {
  const isDeleting = useSignal(false);
  return (
    <>
      <Details account={account} resource={resource} />
      <ManagersSection id={account.id} />
      <Section
        title={text.serviceAccounts.delete}
        tone="danger"
        description={text.serviceAccounts.deleteDescription}
        actions={
          <Button kind="danger" onClick={() => void (isDeleting.value = true)}>
            {text.serviceAccounts.delete}…
          </Button>
        }
      />
      {isDeleting.value && <DeleteDialog account={account} onClose={() => void (isDeleting.value = false)} />}
    </>
  );
}

function Details({ account, resource }: SectionsProps) {
  const isChanging = useSignal(false);
  const canChange = account.creatorId === null || account.creatorId === session.value?.account.id;
  return (
    <Section
      title={text.serviceAccounts.details}
      description={!canChange && text.serviceAccounts.onlyCreator}
      actions={
        canChange && <Button onClick={() => void (isChanging.value = true)}>{text.serviceAccounts.change}</Button>
      }
    >
      <dl class="settings">
        <Setting label={text.serviceAccounts.id} hint={text.serviceAccounts.idHint}>
          <span class="code">{account.id}</span>
          <CopyButton label={text.serviceAccounts.id} value={account.id} />
        </Setting>
        <Setting label={text.serviceAccounts.externalId}>
          {account.externalId === null ? (
            <span class="muted">{text.serviceAccounts.none}</span>
          ) : (
            <span class="code">{account.externalId}</span>
          )}
        </Setting>
        <Setting label={text.serviceAccounts.createdBy}>{creatorOf(account)}</Setting>
        <Setting label={text.serviceAccounts.created}>
          <Time at={account.createdAt} as="dateTime" />
        </Setting>
      </dl>
      {isChanging.value && (
        <ServiceAccountForm
          title={text.serviceAccounts.changeTitle}
          submit={text.general.save}
          account={account}
          onClose={() => void (isChanging.value = false)}
          onSubmit={async ({ name, externalId = null }) => {
            const params = { id: account.id };
            resource.set(await call('PATCH /auth/service-accounts/:id', { params, body: { name, externalId } }));
            announce(text.general.saved);
          }}
        />
      )}
    </Section>
  );
}

function DeleteDialog({ account, onClose }: { readonly account: ServiceAccount; readonly onClose: () => void }) {
  const { route } = useLocation();
  return (
    <ActionDialog
      title={text.serviceAccounts.deleteTitle(account.name)}
      submit={text.serviceAccounts.delete}
      kind="danger"
      onClose={onClose}
      act={async (fields) => {
        if (fields.text('name').trim() !== account.name) throw new Problem('name_differs', 0);
        await call('DELETE /auth/service-accounts/:id', { params: { id: account.id } });
        announce(text.serviceAccounts.deleted(account.name));
        route(`${root}/service-accounts`, true);
      }}
    >
      {(problem) => (
        <>
          <p>{text.serviceAccounts.deleteIntro}</p>
          <Field
            label={text.serviceAccounts.typeName(account.name)}
            name="name"
            autocomplete="off"
            autofocus
            error={problem?.code === 'name_differs' ? problem.sentence : undefined}
          />
        </>
      )}
    </ActionDialog>
  );
}
