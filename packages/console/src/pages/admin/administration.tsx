/** The pages of administrators, beside their navigation. Most are one file of the output, which loads when one is opened. */
import { Route, Router, useLocation } from 'preact-iso/router';
import { useLayoutEffect } from 'preact/hooks';
import { NotFoundPage } from '../not-found-page.tsx';
import { AccountPage } from './accounts/account-page.tsx';
import { AccountsPage } from './accounts/accounts-page.tsx';
import { AdminKeysPage } from './keys/keys-page.tsx';
import { AdministeredKeyPage } from './accounts/administered-key-page.tsx';
import { JobsPage } from './jobs/jobs-page.tsx';
import { MailPage } from './mail/mail-page.tsx';
import { AuditPage } from './audit/audit-page.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { loadParts } from '../keys/trust/load-parts.ts';
import { provideTrustParts } from '../keys/trust-parts.ts';
import { Navigation } from './navigation.tsx';
import { ScopesPage } from './scopes/scopes-page.tsx';
import { SettingsPage } from './settings/settings-page.tsx';
import { SigningKeysPage } from './signing-keys/signing-keys-page.tsx';
import { lazyPage } from '../../parts/lazy-page.tsx';
import { root } from '../../root.ts';

export * from '../shared-parts.ts';

provideTrustParts(loadParts);

const furtherPages = () => import('./further-admin-pages.ts');
const IssuersPage = lazyPage(async () => (await furtherPages()).IssuersPage);
const ProgramsPage = lazyPage(async () => (await furtherPages()).ProgramsPage);
const WebhookPage = lazyPage(async () => (await furtherPages()).WebhookPage);
const WebhooksPage = lazyPage(async () => (await furtherPages()).WebhooksPage);

/** Paths are relative to /console/admin. */
export const Administration = () => (
  <div class="administration">
    <Navigation />
    <div class="administration-page">
      <Router>
        <Route path="/" component={ToFirstPage} />
        <Route path="/overview" component={OverviewPage} />
        <Route path="/accounts" component={AccountsPage} />
        <Route path="/keys" component={AdminKeysPage} />
        <Route path="/scopes" component={ScopesPage} />
        <Route path="/issuers" component={IssuersPage} />
        <Route path="/programs" component={ProgramsPage} />
        <Route path="/audit" component={AuditPage} />
        <Route path="/webhooks" component={WebhooksPage} />
        <Route path="/webhooks/:id" component={WebhookPage} />
        <Route path="/accounts/:id" component={AccountPage} />
        <Route path="/accounts/:id/keys/:keyId" component={AdministeredKeyPage} />
        <Route path="/mail" component={MailPage} />
        <Route path="/jobs" component={JobsPage} />
        <Route path="/signing-keys" component={SigningKeysPage} />
        <Route path="/settings" component={SettingsPage} />
        <Route default component={NotFoundPage} />
      </Router>
    </div>
  </div>
);

function ToFirstPage() {
  const { route } = useLocation();
  useLayoutEffect(() => route(`${root}/admin/overview`, true), [route]);
  return null;
}
