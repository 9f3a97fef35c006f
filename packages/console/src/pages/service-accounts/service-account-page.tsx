/** One service account: its keys, details and managers. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { nameAccounts } from '../../account-names.ts';
import { call } from '../../api.ts';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { DeletionDialog } from '../../parts/deletion-dialog.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { Setting } from '../../parts/setting.tsx';
import { Time } from '../../parts/time.tsx';
import { useResource, type Resource } from '../../resource.ts';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { CreateKeyDialog } from '../keys/create-key-dialog.tsx';
import { CreateKeyButton, KeyList } from '../keys/key-list.tsx';
import { ConsoleKeyView } from '../keys/console-key-view.tsx';
import { keysOf } from '../keys/keys-of-account.ts';
import { ManagersSection } from './managers-section.tsx';
import { ServiceAccountForm, type ServiceAccount } from './service-account-form.tsx';
import { Creator } from './service-accounts-page.tsx';
import { root } from '../../root.ts';

/** A key of a service account. The parameters are from the URL. */
export const ServiceAccountKeyPage = ({ id, keyId }: { readonly id: string; readonly keyId: string }) => (
  <ConsoleKeyView owner={keysOf(id)} id={Number(keyId)} key={keyId} />
);

/** @param id of the service account, from the URL */
export function ServiceAccountPage({ id }: { readonly id: string }) {
  const isCreating = useSignal(false);
  const account = useResource(async (signal) => {
    const loaded = await call('GET /auth/service-accounts/:id', { params: { id }, signal });
    await nameAccounts([loaded.creatorId], signal);
    return loaded;
  });
  return (
    <Page
      title={account.value?.name ?? text.serviceAccounts.one}
      parent={{ href: `${root}/service-accounts`, label: text.general.serviceAccounts }}
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
      title={text.general.details}
      description={!canChange && text.serviceAccounts.onlyCreator}
      actions={
        canChange && <Button onClick={() => void (isChanging.value = true)}>{text.serviceAccounts.change}</Button>
      }
    >
      <dl class="settings">
        <Setting label={text.general.accountId} hint={text.serviceAccounts.idHint}>
          <span class="code">{account.id}</span>
          <CopyButton label={text.general.accountId} value={account.id} />
        </Setting>
        <Setting label={text.serviceAccounts.externalId}>
          {account.externalId === null ? (
            <span class="muted">{text.general.none}</span>
          ) : (
            <span class="code">{account.externalId}</span>
          )}
        </Setting>
        <Setting label={text.serviceAccounts.createdBy}>
          <Creator creatorId={account.creatorId} />
        </Setting>
        <Setting label={text.general.created}>
          <Time at={account.createdAt} as="dateTime" />
        </Setting>
      </dl>
      {isChanging.value && (
        <ServiceAccountForm
          title={text.serviceAccounts.changeTitle}
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
    <DeletionDialog
      title={text.serviceAccounts.deleteTitle(account.name)}
      submit={text.serviceAccounts.delete}
      intro={text.serviceAccounts.deleteIntro}
      label={text.general.typeName(account.name)}
      name={account.name}
      onClose={onClose}
      remove={async () => {
        await call('DELETE /auth/service-accounts/:id', { params: { id: account.id } });
        announce(text.serviceAccounts.deleted(account.name));
        route(`${root}/service-accounts`, true);
      }}
    />
  );
}
