/** The pages and dialogs beyond the sign-in and the list of keys. They are one file of the output, which loads when it is needed. */
import { loadParts } from './keys/trust/load-parts.ts';
import { provideTrustParts } from './keys/trust-parts.ts';

export { AccountPage } from './account/account-page.tsx';
export { FirstAdministratorPage } from './sign-in/first-administrator-page.tsx';
export { KeyPage } from './keys/key-page.tsx';
export { RecoveryCodesDialog } from './security/recovery-codes-dialog.tsx';
export { SecurityPage } from './security/security-page.tsx';
export { ServiceAccountKeyPage, ServiceAccountPage } from './service-accounts/service-account-page.tsx';
export { ServiceAccountsPage } from './service-accounts/service-accounts-page.tsx';
export { SignUpPage } from './sign-in/sign-up-page.tsx';
export { CreateKeyDialog } from './keys/create-key-dialog.tsx';
export * from './shared-parts.ts';

provideTrustParts(loadParts);
