/** What surrounds every page: navigation, banners, the confirmation dialog. Chooses the page by session and URL. */
import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Route, Router, useLocation } from 'preact-iso/router';
import { keepCode, keptCode } from './linked-code.ts';
import { mainPages } from './main-pages.ts';
import { ariaShortcut, isPaletteOpen, opensBySlash, shownShortcut, watchShortcuts } from './palette/shortcuts.ts';
import { Announcements } from './parts/announce.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Icon } from './parts/icon.tsx';
import { lazyPage, lazyPart } from './parts/lazy-page.tsx';
import { Menu } from './parts/menu.tsx';
import { Preferences } from './parts/preferences.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { OutageBanner } from './parts/outage-banner.tsx';
import type { Problem } from './problem.ts';
import { productName } from './product-name.ts';
import { Notice } from './parts/notice.tsx';
import { KeysPage } from './pages/keys/keys-page.tsx';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { recoveryCodes } from './pages/security/recovery-codes.ts';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { config, confirmation, ending, isAdministrator, session, showsServiceAccounts, signOut } from './session.ts';
import { useAction } from './resource.ts';
import { loadAdminTexts } from './text/admin-text.ts';
import { text } from './text/text.ts';
import { basePath, docsUrl, root } from './root.ts';

const furtherPages = () => import('./pages/further-pages.ts');
const sessionDialogs = () => import('./pages/session-dialogs.ts');
const Administration = lazyPage(async () => {
  const [{ Administration: component }] = await Promise.all([
    import('./pages/admin/administration.tsx'),
    loadAdminTexts(),
  ]);
  return component;
});
const ProtectCard = lazyPart(async () => {
  const [{ ProtectCard: component }] = await Promise.all([
    import('./pages/protect/protect-card.tsx'),
    loadAdminTexts(),
  ]);
  return component;
});
const Palette = lazyPart(async () => {
  const [{ Palette: component }] = await Promise.all([
    import('./palette/palette.tsx'),
    isAdministrator.peek() && loadAdminTexts(),
  ]);
  return component;
});
const ApprovalPage = lazyPage(async () => (await import('./pages/approval/load.ts')).load());
const ConfirmationDialog = lazyPart(async () => (await sessionDialogs()).ConfirmationDialog);
const CreateKeyDialog = lazyPart(async () => (await furtherPages()).CreateKeyDialog);
const AccountPage = lazyPage(async () => (await furtherPages()).AccountPage);
const FirstAdministratorPage = lazyPage(async () => (await furtherPages()).FirstAdministratorPage);
const KeyPage = lazyPage(async () => (await furtherPages()).KeyPage);
const RecoveryCodesDialog = lazyPart(async () => (await furtherPages()).RecoveryCodesDialog);
const SecurityPage = lazyPage(async () => (await furtherPages()).SecurityPage);
const ServiceAccountKeyPage = ofServiceAccounts(lazyPage(async () => (await furtherPages()).ServiceAccountKeyPage));
const ServiceAccountPage = ofServiceAccounts(lazyPage(async () => (await furtherPages()).ServiceAccountPage));
const ServiceAccountsPage = ofServiceAccounts(lazyPage(async () => (await furtherPages()).ServiceAccountsPage));
const SessionEndDialog = lazyPart(async () => (await sessionDialogs()).SessionEndDialog);
const SignUpPage = lazyPage(async () => (await furtherPages()).SignUpPage);

export function Shell() {
  return (
    <>
      <a class="skip-link" href="#content">
        {text.general.skip}
      </a>
      <Announcements />
      <OutageBanner />
      {session.value ? <SignedIn key={session.value.account.id} /> : <SignedOut />}
      {ending.value && <SessionEndDialog />}
      {recoveryCodes.value && <RecoveryCodesDialog codes={recoveryCodes.value} />}
      {confirmation.value && <ConfirmationDialog settle={confirmation.value.settle} />}
    </>
  );
}

/** The URL stays, so that the person continues on the same page after the sign-in. */
function SignedOut() {
  const { path } = useLocation();
  return (
    <div class="entrance">
      <main id="content" class="narrow">
        <p class="brand">
          <BrandName />
        </p>
        <div class="card">
          {config.value?.needsAdministrator && path !== `${root}/device` ? (
            <FirstAdministratorPage />
          ) : path === `${root}/sign-up` && config.value?.features.signUp ? (
            <SignUpPage />
          ) : (
            <SignInPage />
          )}
        </div>
        <DocumentationLink />
        <Preferences />
      </main>
    </div>
  );
}

/** On every page, if the service has it. In the narrow bar at the top, only its icon is visible. */
const DocumentationLink = () =>
  config.value?.features.docs && (
    <a class="button quiet documentation" href={docsUrl}>
      <Icon name="book" />
      <span class="documentation-label">{text.general.documentation}</span>
    </a>
  );

/** Opens the command palette, and shows the key that does so. In the narrow bar at the top, only its icon is visible. */
function SearchButton() {
  useLayoutEffect(watchShortcuts, []);
  return (
    <>
      <button
        type="button"
        class="button quiet search-button"
        aria-keyshortcuts={opensBySlash.value ? `${ariaShortcut} /` : ariaShortcut}
        onClick={() => void (isPaletteOpen.value = true)}
      >
        <Icon name="search" />
        <span class="search-label">{text.general.search}</span>
        <kbd aria-hidden="true">{shownShortcut()}</kbd>
      </button>
      {isPaletteOpen.value && <Palette onClose={() => void (isPaletteOpen.value = false)} />}
    </>
  );
}

/** For URLs of pages that only exist before the sign-in. Continues with the code of a link, if the person began with one. */
function ToStart() {
  const { route } = useLocation();
  useLayoutEffect(() => route(root + (keptCode() ? '/device' : '/keys'), true), [route]);
  return null;
}

const Keys = () => <KeysPage CreateKeyDialog={CreateKeyDialog} ProtectCard={ProtectCard} />;

/** The role may end while one of these pages is open. The router keeps its component until the URL changes. */
const ForAdministrators = () => (isAdministrator.value ? <Administration /> : <NotFoundPage />);

/** For people, if the operator does not hide them. */
function ofServiceAccounts<P extends object>(Page: ComponentType<P>): ComponentType<P> {
  return (props) => (showsServiceAccounts.value ? <Page {...props} /> : <NotFoundPage />);
}

function SignedIn() {
  const mustEnrol = session.value?.account.mustEnrol;
  return (
    <div class="layout">
      <header class="top">
        <div class="top-content">
          <Brand />
          {mustEnrol ? (
            <div class="navigation" />
          ) : (
            <>
              <Navigation />
              <SearchButton />
            </>
          )}
          <DocumentationLink />
          <AccountMenu />
        </div>
      </header>
      <main id="content">
        {mustEnrol ? (
          <>
            <Notice tone="warning">{text.security.mustEnrol}</Notice>
            <SecurityPage />
          </>
        ) : (
          <Router>
            <Route path={root} component={Keys} />
            <Route path={`${root}/keys`} component={Keys} />
            <Route path={`${root}/keys/:id`} component={KeyPage} />
            <Route path={`${root}/service-accounts`} component={ServiceAccountsPage} />
            <Route path={`${root}/service-accounts/:id`} component={ServiceAccountPage} />
            <Route path={`${root}/service-accounts/:id/keys/:keyId`} component={ServiceAccountKeyPage} />
            <Route path={`${root}/security`} component={SecurityPage} />
            <Route path={`${root}/account`} component={AccountPage} />
            <Route path={`${root}/device`} component={ApprovalPage} />
            <Route path={`${root}/admin/*`} component={ForAdministrators} />
            <Route path={`${root}/sign-in`} component={ToStart} />
            <Route path={`${root}/sign-up`} component={ToStart} />
            <Route default component={NotFoundPage} />
          </Router>
        )}
      </main>
    </div>
  );
}

const Brand = () => (
  <a class="brand" href={root}>
    <BrandName />
  </a>
);

const BrandName = () => (
  <>
    {config.value?.mark ? (
      <img class="own-mark" src={basePath + config.value.mark} alt="" />
    ) : (
      <svg class="icon brand-mark" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4.5 2.5v11M4.5 9l6.5-6.5M7 6.5l5 7" />
      </svg>
    )}
    <span class="brand-name">{productName()}</span>
  </>
);

/** The session continues: the person must not leave the computer without a notice. */
const ProblemDialog = ({ problem, onClose }: { readonly problem: Problem; readonly onClose: () => void }) => (
  <Dialog title={text.general.signOutFailed} onClose={onClose}>
    <ProblemNotice problem={problem} />
  </Dialog>
);

function AccountMenu() {
  const { route } = useLocation();
  const leave = useAction(async () => {
    keepCode();
    await signOut();
    // The next person who signs in here starts at the first page.
    route(`${root}/sign-in`);
  });
  const email = session.value?.account.email ?? '';
  return (
    <>
      {leave.problem && <ProblemDialog problem={leave.problem} onClose={leave.clear} />}
      <Menu
        buttonClass="button quiet account-button"
        button={
          <>
            <span class="visually-hidden">{text.general.accountMenu} </span>
            <span class="account-email">{email}</span>
            <span class="avatar" aria-hidden="true">
              {email.slice(0, 1)}
            </span>
          </>
        }
      >
        <p class="menu-heading">
          {text.general.signedInAs} <strong>{email}</strong>
        </p>
        <a href={`${root}/account`}>
          <Icon name="user" /> {text.general.account}
        </a>
        <a href={`${root}/security`}>
          <Icon name="shield" /> {text.general.security}
        </a>
        <hr />
        <button type="button" onClick={() => void leave.run()}>
          <Icon name="leave" /> {text.general.signOut}
        </button>
      </Menu>
    </>
  );
}

/** Links beside each other; on narrow screens, the same links in a menu. */
function Navigation() {
  const { path } = useLocation();
  const isCurrent = (href: string): boolean =>
    path === href || path.startsWith(`${href}/`) || (path === root && href === `${root}/keys`);
  const links = () =>
    mainPages().map(({ href, label, icon }) => (
      <a href={href} aria-current={isCurrent(href) ? 'page' : undefined} key={href}>
        <Icon name={icon} /> {label}
      </a>
    ));
  return (
    <>
      <nav aria-label={text.general.menu} class="navigation">
        {links()}
      </nav>
      <nav aria-label={text.general.menu} class="navigation-menu">
        <Menu label={text.general.menu} buttonClass="button quiet icon-only" button={<Icon name="menu" />}>
          {links()}
        </Menu>
      </nav>
    </>
  );
}
