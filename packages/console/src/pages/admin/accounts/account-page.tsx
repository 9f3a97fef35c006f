/** One account: what is known about it, its keys, sessions, limits and events, and every action of an administrator. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { nameAccounts } from '../../../account-names.ts';
import { call } from '../../../api.ts';
import { announce } from '../../../parts/announce.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Page } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { session } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { ManagersSection } from '../../service-accounts/managers-section.tsx';
import { AccountActionDialog } from './account-action-dialog.tsx';
import { actionGroups, type ActionName } from './account-actions.ts';
import { AccountFacts } from './account-facts.tsx';
import { nameOf, type AccountDetail } from './account.tsx';
import { EntitlementsSection } from './entitlements-section.tsx';
import { EventsSection } from './events-section.tsx';
import { KeysSection } from './keys-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { AccountSessions } from './account-sessions.tsx';
import { root } from '../../../root.ts';

/** @param id from the URL */
export const AccountPage = ({ id }: { readonly id: string }) => <AccountView id={id} key={id} />;

function AccountView({ id }: { readonly id: string }) {
  const { route } = useLocation();
  const action = useSignal<ActionName>();
  /** Counts changes: the lists of the page load again. */
  const changes = useSignal(0);
  const account = useResource(async (signal) => {
    void changes.value;
    const loaded = await call('GET /admin/accounts/:id', { params: { id }, signal });
    await nameAccounts([loaded.creatorId], signal);
    return loaded;
  });
  const onChanged = (sentence: string): void => {
    changes.value++;
    announce(sentence);
  };
  const current = account.value;
  return (
    <Page
      title={current ? nameOf(current) : text.general.account}
      parent={{ href: `${root}/admin/accounts`, label: adminText.general.accounts }}
      intro={current?.id === session.value?.account.id && <Badge>{adminText.accounts.you}</Badge>}
      actions={current && <Actions account={current} onChoose={(name) => void (action.value = name)} />}
    >
      <Loaded of={account} rows={5}>
        {(loaded) => (
          <div class="sections">
            <Notices account={loaded} />
            <AccountFacts account={loaded} />
            <KeysSection account={loaded} changes={changes} />
            {loaded.kind === 'service' ? (
              <ManagersSection id={id} isAdministered />
            ) : (
              <AccountSessions id={id} changes={changes} />
            )}
            <LimitsSection account={loaded} onChanged={onChanged} />
            <EntitlementsSection account={loaded} onChanged={onChanged} />
            <EventsSection id={id} changes={changes} />
          </div>
        )}
      </Loaded>
      {current && action.value && (
        <AccountActionDialog
          name={action.value}
          account={current}
          onClose={() => void (action.value = undefined)}
          onDone={onChanged}
          onDeleted={() => route(`${root}/admin/accounts`, true)}
        />
      )}
    </Page>
  );
}

function Notices({ account }: { readonly account: AccountDetail }) {
  return (
    account.disabledAt && (
      <Notice tone="warning">
        <p>
          {adminText.accounts.disabledSince} <Time at={account.disabledAt} as="dateTime" />
        </p>
      </Notice>
    )
  );
}

interface ActionsProps {
  readonly account: AccountDetail;
  readonly onChoose: (name: ActionName) => void;
}

const Actions = ({ account, onChoose }: ActionsProps) => (
  <Menu
    buttonClass="button"
    button={
      <>
        {text.general.actions} <Icon name="down" />
      </>
    }
  >
    {actionGroups(account).map((group, index) => (
      <>
        {index > 0 && <hr />}
        {group.map(({ name, label, isDangerous }) => (
          <button
            type="button"
            name={name}
            class={isDangerous ? 'danger' : ''}
            onClick={() => onChoose(name)}
            key={name}
          >
            {label}
          </button>
        ))}
      </>
    ))}
  </Menu>
);
