/** The page: the list of keys, one key, or the notice that the session has ended or cannot read keys. */
import { useSignal, type Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { NavigationContext, type Navigation } from '../navigation.ts';
import { Announcements } from '../parts/announce.tsx';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { OutageBanner } from '../parts/outage-banner.tsx';
import { Page } from '../parts/page.tsx';
import { SecondStep } from '../parts/second-step.ts';
import type { CreateKeyDialogProps } from '../pages/keys/create-key-dialog.tsx';
import { CreateKeyButton, KeyList } from '../pages/keys/key-list.tsx';
import type { KeyOwner } from '../pages/keys/key-owner.ts';
import { KeyView } from '../pages/keys/key-view.tsx';
import { NewKeyDialog } from '../pages/keys/new-key-dialog.tsx';
import { RotateSecretDialog, type RotateDialogProps } from '../pages/keys/rotate-secret-dialog.tsx';
import { basePath } from '../root.ts';
import { config } from '../session-state.ts';
import { text, textsVersion } from '../text/text.ts';
import { SecretExamples, UseSection } from './examples.tsx';
import type { Host } from './host.ts';
import { keepPlacesApart } from './keep-apart.ts';
import { keyIdOf, keysOfPortal } from './owner.ts';
import { portalSession, returnUrl } from './session.ts';
import { portalText } from './texts.ts';

/** For how long the second step of an operation accepts nothing. */
const secondStepPauseMs = 500;

/** So that the list is no higher than the frame at its start. */
const rowsOfPage = 6;

/** Newest keys first, so that a new one is on the first page. */
const compact = {
  rows: rowsOfPage,
  sort: '-created',
  priorities: { scopes: 'medium', created: 'lowest', expires: 'low', requests: 'lowest' },
} as const;

interface KeyPageProps {
  readonly host: Host;
  /** Set after the last dialog was closed. */
  readonly isEnded: Signal<boolean>;
  readonly navigation: Signal<Navigation>;
}

const rules = {
  pauseMs: secondStepPauseMs,
  now: () => performance.now(),
  keepApart: keepPlacesApart,
  focusesCopy: false,
};

/** Another language renders everything again. */
export const PortalPage = (props: KeyPageProps) => (
  <SecondStep.Provider value={rules} key={textsVersion.value}>
    <NavigationContext.Provider value={props.navigation.value}>
      <Announcements />
      <OutageBanner />
      {props.host.display === 'page' && <Header />}
      <main>{props.isEnded.value ? <Ended host={props.host} /> : <Keys {...props} />}</main>
    </NavigationContext.Provider>
  </SecondStep.Provider>
);

function Keys({ host, navigation }: Pick<KeyPageProps, 'host' | 'navigation'>) {
  const session = portalSession.value;
  // Not at each refreshed state: the forms of the owner's keys would load again.
  const rights = JSON.stringify([session?.capabilities, session?.scopes, session?.anyScope]);
  // oxlint-disable-next-line react/exhaustive-deps -- the text has what the owner reads of the session
  const owner = useMemo(() => session && keysOfPortal(session, host), [rights]);
  const id = keyIdOf(navigation.value.path);
  if (!owner || !session) return null;
  if (!session.capabilities.includes('read')) return <Unreadable owner={owner} />;
  return id === undefined ? (
    <List owner={owner} isReadOnly={session.capabilities.length === 1} />
  ) : (
    <KeyView owner={owner} id={id} RotateDialog={RotateDialog} UseSection={UseSection} key={id} />
  );
}

const CreateKeyDialog = (props: CreateKeyDialogProps) => <NewKeyDialog {...props} SecretExamples={SecretExamples} />;

const RotateDialog = (props: RotateDialogProps) => <RotateSecretDialog {...props} SecretExamples={SecretExamples} />;

function List({ owner, isReadOnly }: { readonly owner: KeyOwner; readonly isReadOnly: boolean }) {
  const isCreating = useSignal(false);
  return (
    <Page
      title={text.general.keys}
      intro={isReadOnly && portalText.readOnly}
      actions={owner.rights.create && <CreateKeyButton isCreating={isCreating} />}
    >
      <KeyList owner={owner} CreateKeyDialog={CreateKeyDialog} isCreating={isCreating} compact={compact} />
    </Page>
  );
}

/** A session can create keys although it shows none. */
function Unreadable({ owner }: { readonly owner: KeyOwner }) {
  const isCreating = useSignal(false);
  return (
    <Page title={text.general.keys} actions={owner.rights.create && <CreateKeyButton isCreating={isCreating} />}>
      <Notice>{portalText.noRead}</Notice>
      {isCreating.value && <CreateKeyDialog owner={owner} onClose={() => void (isCreating.value = false)} />}
    </Page>
  );
}

function Ended({ host }: Pick<KeyPageProps, 'host'>) {
  const isFrame = host.display === 'frame';
  return (
    <Page title={text.general.keys}>
      <div class="list">
        <Empty title={portalText.endedTitle} icon="wait">
          <p>{isFrame ? portalText.endedIntro : portalText.endedPage}</p>
          {isFrame ? (
            <Button kind="primary" onClick={() => host.send({ type: 'reload' })}>
              {portalText.loadAgain}
            </Button>
          ) : (
            <ReturnLink />
          )}
        </Empty>
      </div>
    </Page>
  );
}

/** For a page that is in no frame: the operator's name and mark, and the way back. */
const Header = () => (
  <header class="portal-header">
    <span class="brand">
      {config.value?.mark && <img class="own-mark" src={basePath + config.value.mark} alt="" />}
      <span class="brand-name">{config.value?.product}</span>
    </span>
    <ReturnLink />
  </header>
);

const ReturnLink = () => {
  const url = returnUrl();
  return url ? (
    <a class="button" href={url}>
      {portalText.back(new URL(url).host)}
    </a>
  ) : null;
};
