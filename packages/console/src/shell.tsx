/** What surrounds every page: navigation, banners, the confirmation dialog. Chooses the page by session and URL. */
import { Route, Router, useLocation } from 'preact-iso/router';
import { ConfirmationDialog } from './confirmation-dialog.tsx';
import { Announcements } from './parts/announce.tsx';
import { Button } from './parts/button.tsx';
import { Notice } from './parts/notice.tsx';
import { AccountPage } from './pages/account/account-page.tsx';
import { FirstAdministratorPage } from './pages/sign-in/first-administrator-page.tsx';
import { KeyPage } from './pages/keys/key-page.tsx';
import { KeysPage } from './pages/keys/keys-page.tsx';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { SecurityPage } from './pages/security/security-page.tsx';
import { ServiceAccountPage } from './pages/service-accounts/service-account-page.tsx';
import { ServiceAccountsPage } from './pages/service-accounts/service-accounts-page.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { SignUpPage } from './pages/sign-in/sign-up-page.tsx';
import { config, confirmation, outage, session, signOut } from './session.ts';
import { text } from './text/text.ts';

export function Shell() {
  return (
    <>
      <a class="skip-link" href="#content">
        {text.general.skip}
      </a>
      <Announcements />
      {outage.value && (
        <div class="banner" role="alert">
          {outage.value === 'unavailable' ? text.general.databaseDown : text.general.offline}
        </div>
      )}
      {session.value ? <SignedIn /> : <SignedOut />}
      {confirmation.value && <ConfirmationDialog settle={confirmation.value.settle} />}
    </>
  );
}

/** The URL stays, so that the person continues on the same page after the sign-in. */
function SignedOut() {
  const { path } = useLocation();
  return (
    <main id="content" class="narrow">
      <p class="brand">{config.value?.product ?? text.general.product}</p>
      {config.value?.needsAdministrator ? (
        <FirstAdministratorPage />
      ) : path === '/console/sign-up' && config.value?.features.signUp ? (
        <SignUpPage />
      ) : (
        <SignInPage />
      )}
    </main>
  );
}

function SignedIn() {
  const mustEnrol = session.value?.account.mustEnrol;
  return (
    <div class="layout">
      <header class="top">
        <a class="brand" href="/console">
          {config.value?.product ?? text.general.product}
        </a>
        {!mustEnrol && <Navigation />}
        <div class="account-menu">
          <span class="muted">{session.value?.account.email}</span>
          <Button kind="quiet" onClick={() => void signOut()}>
            {text.general.signOut}
          </Button>
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
            <Route path="/console" component={KeysPage} />
            <Route path="/console/keys" component={KeysPage} />
            <Route path="/console/keys/:id" component={KeyPage} />
            <Route path="/console/service-accounts" component={ServiceAccountsPage} />
            <Route path="/console/service-accounts/:id" component={ServiceAccountPage} />
            <Route path="/console/security" component={SecurityPage} />
            <Route path="/console/account" component={AccountPage} />
            <Route path="/console/sign-in" component={KeysPage} />
            <Route default component={NotFoundPage} />
          </Router>
        )}
      </main>
    </div>
  );
}

function Navigation() {
  const { path } = useLocation();
  const links = [
    ['/console/keys', text.general.keys],
    ['/console/service-accounts', text.general.serviceAccounts],
    ['/console/security', text.general.security],
    ['/console/account', text.general.account],
  ] as const;
  const isCurrent = (href: string): boolean =>
    path === href || path.startsWith(`${href}/`) || (path === '/console' && href === '/console/keys');
  return (
    <nav aria-label={text.general.menu}>
      {links.map(([href, label]) => (
        <a href={href} aria-current={isCurrent(href) ? 'page' : undefined} key={href}>
          {label}
        </a>
      ))}
    </nav>
  );
}
