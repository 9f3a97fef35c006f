/** Composes the parts of self-service. */
import { Activity } from './activity.ts';
import { AccountExporter } from './export.ts';
import { EmailChange } from './email-change.ts';
import { UndoEmailChange } from './undo-email-change.ts';
import type { SelfServiceOptions } from './options.ts';
import { OwnAccount } from './own-account.ts';
import { PasswordReset } from './password-reset.ts';
import { SignUp } from './sign-up.ts';
import { EmailVerification } from './verify-email.ts';

export class SelfService {
  readonly signUp: SignUp;
  readonly emailVerification: EmailVerification;
  readonly passwordReset: PasswordReset;
  readonly own: OwnAccount;
  readonly activity: Activity;
  readonly exporter: AccountExporter;
  readonly emailChange: EmailChange;
  readonly emailUndo: UndoEmailChange;

  constructor(options: SelfServiceOptions) {
    this.signUp = new SignUp(options);
    this.emailVerification = new EmailVerification(options);
    this.passwordReset = new PasswordReset(options);
    this.own = new OwnAccount(options);
    this.activity = new Activity(options);
    this.exporter = new AccountExporter(options, this.own, this.activity);
    this.emailChange = new EmailChange(options, this.own);
    this.emailUndo = new UndoEmailChange(options);
  }
}
