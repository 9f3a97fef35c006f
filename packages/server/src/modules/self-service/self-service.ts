/** The life of an account: its parts, each a file of its own. */
import { EmailChange } from './email-change.ts';
import { UndoEmailChange } from './undo-email-change.ts';
import type { SelfServiceOptions } from './options.ts';
import { OwnAccount } from './own-account.ts';
import { PasswordReset } from './password-reset.ts';
import { SignUp } from './sign-up.ts';
import { Verification } from './verify-email.ts';

export class SelfService {
  readonly signUp: SignUp;
  readonly verification: Verification;
  readonly passwordReset: PasswordReset;
  readonly own: OwnAccount;
  readonly emailChange: EmailChange;
  readonly emailUndo: UndoEmailChange;

  constructor(options: SelfServiceOptions) {
    this.signUp = new SignUp(options);
    this.verification = new Verification(options);
    this.passwordReset = new PasswordReset(options);
    this.own = new OwnAccount(options);
    this.emailChange = new EmailChange(options, this.own);
    this.emailUndo = new UndoEmailChange(options);
  }
}
