/** The texts of the pages that links in mail open, in every language. */
import type { ErrorCode, Language } from '@keyreeve/contract';

export interface FormTexts {
  readonly intro: string;
  readonly button: string;
  /** After the server has accepted the form. */
  readonly done: string;
}

export interface PageTexts {
  readonly title: string;
  /** For a user with a code. */
  readonly code: FormTexts;
  /** For a user without a code, or with an invalid one. */
  readonly noCode?: FormTexts;
  /** The next step after an invalid code, on a page without a form for that. */
  readonly renewal?: string;
}

export type LinkPage =
  | 'verifyEmailPage'
  | 'resetPasswordPage'
  | 'changeEmailPage'
  | 'undoEmailChangePage'
  | 'removeKeyPage'
  | 'acceptEmailPage'
  | 'acceptInvitationPage';

/** Error codes with a text for users. Other errors are shown with the title and detail of the problem document. */
export type ExplainedError = Extract<
  ErrorCode,
  | 'code_invalid'
  | 'invalid_credentials'
  | 'password_too_short'
  | 'password_too_long'
  | 'password_invalid'
  | 'password_context'
  | 'password_common'
  | 'email_invalid'
  | 'email_wrong'
  | 'account_exists'
  | 'too_many_attempts'
  | 'too_many_requests'
  | 'overloaded'
  | 'unavailable'
>;

export interface LinkPageTexts {
  readonly labels: {
    readonly code: string;
    readonly email: string;
    readonly username: string;
    readonly password: string;
    readonly newPassword: string;
    readonly revokeKeys: string;
  };
  readonly passwordRule: (lengthMin: number) => string;
  readonly sending: string;
  readonly incomplete: string;
  readonly unreachable: string;
  readonly noKeys: string;
  readonly liveKeys: string;
  readonly liveFactors: string;
  readonly authenticator: string;
  readonly passkey: string;
  readonly recoveryCodes: string;
  readonly removeFactors: string;
  readonly signIn: (operator: string) => string;
  readonly withoutScript: string;
  readonly errors: Readonly<Record<ExplainedError, string>>;
  readonly pages: Readonly<Record<LinkPage, PageTexts>>;
}

const english: LinkPageTexts = {
  labels: {
    code: 'Code from the mail, or its whole link',
    email: 'Email address',
    username: 'User name, for your browser to save (optional)',
    password: 'Password',
    newPassword: 'New password',
    revokeKeys: 'Also delete all my API keys',
  },
  passwordRule: (lengthMin) =>
    `At least ${lengthMin} characters. A phrase of several unrelated words is a good password.`,
  sending: 'Sending …',
  incomplete: 'The link has lost its code. Enter the code from the mail, or copy the whole link.',
  unreachable: 'The service cannot be reached. Try again.',
  noKeys: 'The account has no API keys.',
  liveKeys: 'These API keys continue to work:',
  liveFactors: 'These second factors stay in force:',
  authenticator: 'Authenticator app',
  passkey: 'Passkey',
  recoveryCodes: 'Unused recovery codes',
  removeFactors: 'If one of them is not yours, sign in with one that is, and remove it.',
  signIn: (operator) => `Sign in to ${operator}`,
  withoutScript: 'This page needs JavaScript to send your input when you submit the form.',
  errors: {
    code_invalid: 'This link is no longer valid: it was used, has expired or was replaced by a newer one.',
    invalid_credentials: 'The password is wrong.',
    password_too_short: 'The password is too short.',
    password_too_long: 'The password is too long.',
    password_invalid: 'The password contains control characters, which cannot be sent.',
    password_context:
      'The password consists mostly of the product’s name, the email address or repetitions. Choose another one.',
    password_common: 'The password is on a list of common passwords, or repeats one of them. Choose another one.',
    email_invalid: 'The service does not accept this email address.',
    email_wrong: 'This is not the email address that received the link.',
    account_exists: 'Another account has this email address.',
    too_many_attempts: 'There were too many failed attempts. Try again in 15 minutes.',
    too_many_requests: 'There were too many requests. Try again in an hour.',
    overloaded: 'The service is busy. Try again in a few seconds.',
    unavailable: 'The service is unavailable. Try again in a few seconds.',
  },
  pages: {
    verifyEmailPage: {
      title: 'Complete your sign-up',
      code: {
        intro:
          'Enter the password that you chose when you signed up. If you did not sign up, close this page: nothing happens.',
        button: 'Verify my email address',
        done: 'Your email address is verified. You can now sign in.',
      },
      noCode: {
        intro: 'Enter your email address to receive the mail of your sign-up again.',
        button: 'Send the mail again',
        done: 'If there is an unfinished sign-up with this email address, a mail is on its way to it.',
      },
    },
    resetPasswordPage: {
      title: 'Set a new password',
      code: {
        intro:
          'The new password takes effect immediately and ends all your sessions. Your API keys continue to work unless you delete them here.',
        button: 'Set the password',
        done: 'The new password is in force, and every session has ended.',
      },
      noCode: {
        intro: 'Enter your email address to receive a link for setting a new password.',
        button: 'Send the mail',
        done: 'If there is an account with this email address, a mail is on its way to it.',
      },
    },
    changeEmailPage: {
      title: 'Confirm your new email address',
      code: {
        intro: 'Enter your account’s password. If you did not request this change, close this page: nothing happens.',
        button: 'Use this email address',
        done: 'Your account has the new email address. Sign in with it from now on.',
      },
      renewal: 'If your account does not have the new email address yet, sign in and request the change again.',
    },
    undoEmailChangePage: {
      title: 'Undo the change of your email address',
      code: {
        intro:
          'Enter the email address that received this link: your account gets it back. Every session ends, and the password becomes invalid: you receive a link for setting a new one. API keys, passkeys and second factors that were added after the change, or in the 7 days before it, are removed, unless they were used from a network that you had signed in from earlier. If you changed the address yourself, close this page: nothing happens.',
        button: 'Undo the change',
        done: 'The change is undone, and every session has ended. A mail with a link for setting a new password is on its way to this address, unless the account is disabled.',
      },
      renewal: 'If your account still has the other email address, contact the support of this service.',
    },
    removeKeyPage: {
      title: 'Delete the key of a program',
      code: {
        intro:
          'Enter the email address that received this link. The API key is deleted, and the program can no longer use it. If you started its sign-in yourself, close this page: nothing happens.',
        button: 'Delete the key',
        done: 'The API key has been deleted. If you did not approve it, change your password now.',
      },
      renewal: 'Sign in, open your API keys, and delete the key there.',
    },
    acceptEmailPage: {
      title: 'Confirm your new email address',
      code: {
        intro:
          'An administrator has set a new email address for your account. Enter the email address that received this link. If you do not expect this, close this page: nothing happens.',
        button: 'Use this email address',
        done: 'Your account has the new email address. Sign in with it from now on.',
      },
      renewal: 'If your account does not have this email address yet, ask an administrator to set it again.',
    },
    acceptInvitationPage: {
      title: 'Accept your invitation',
      code: {
        intro: 'Choose a password for your new account.',
        button: 'Set the password',
        done: 'The password is set. You can now sign in.',
      },
      noCode: {
        intro: 'If your invitation has expired, enter your email address to receive a new mail.',
        button: 'Send a new mail',
        done: 'If there is an invitation for this email address, a mail is on its way to it.',
      },
    },
  },
};

const german: LinkPageTexts = {
  labels: {
    code: 'Code aus der E-Mail oder der ganze Link',
    email: 'E-Mail-Adresse',
    username: 'Benutzername, den Ihr Browser speichert (optional)',
    password: 'Passwort',
    newPassword: 'Neues Passwort',
    revokeKeys: 'Auch alle meine API-Schlüssel löschen',
  },
  passwordRule: (lengthMin) =>
    `Mindestens ${lengthMin} Zeichen. Mehrere Wörter ohne Zusammenhang ergeben ein gutes Passwort.`,
  sending: 'Wird gesendet …',
  incomplete:
    'Der Link hat seinen Code verloren. Geben Sie den Code aus der E-Mail ein oder kopieren Sie den ganzen Link.',
  unreachable: 'Der Dienst ist nicht erreichbar. Versuchen Sie es noch einmal.',
  noKeys: 'Das Konto hat keine API-Schlüssel.',
  liveKeys: 'Diese API-Schlüssel gelten weiter:',
  liveFactors: 'Diese zweiten Faktoren gelten weiter:',
  authenticator: 'Authenticator-App',
  passkey: 'Passkey',
  recoveryCodes: 'Unbenutzte Wiederherstellungscodes',
  removeFactors: 'Falls einer davon nicht Ihrer ist, melden Sie sich mit einem Ihrer eigenen an und entfernen Sie ihn.',
  signIn: (operator) => `Bei ${operator} anmelden`,
  withoutScript: 'Diese Seite benötigt JavaScript, um Ihre Eingaben beim Absenden des Formulars zu übertragen.',
  errors: {
    code_invalid:
      'Dieser Link ist nicht mehr gültig: Er wurde verwendet, ist abgelaufen oder wurde durch einen neueren ersetzt.',
    invalid_credentials: 'Das Passwort ist falsch.',
    password_too_short: 'Das Passwort ist zu kurz.',
    password_too_long: 'Das Passwort ist zu lang.',
    password_invalid: 'Das Passwort enthält Steuerzeichen, die nicht übertragen werden können.',
    password_context:
      'Das Passwort besteht überwiegend aus dem Namen des Produkts, der E-Mail-Adresse oder Wiederholungen. Wählen Sie ein anderes.',
    password_common:
      'Das Passwort steht auf einer Liste häufiger Passwörter oder wiederholt eines davon. Wählen Sie ein anderes.',
    email_invalid: 'Diese E-Mail-Adresse wird nicht akzeptiert.',
    email_wrong: 'Das ist nicht die E-Mail-Adresse, an die der Link gesendet wurde.',
    account_exists: 'Ein anderes Konto hat diese E-Mail-Adresse.',
    too_many_attempts: 'Es gab zu viele Fehlversuche. Versuchen Sie es in 15 Minuten noch einmal.',
    too_many_requests: 'Es gab zu viele Anfragen. Versuchen Sie es in einer Stunde noch einmal.',
    overloaded: 'Der Dienst ist ausgelastet. Versuchen Sie es in einigen Sekunden noch einmal.',
    unavailable: 'Der Dienst ist zurzeit nicht verfügbar. Versuchen Sie es in einigen Sekunden noch einmal.',
  },
  pages: {
    verifyEmailPage: {
      title: 'Registrierung abschließen',
      code: {
        intro:
          'Geben Sie das Passwort ein, das Sie bei der Registrierung gewählt haben. Falls Sie sich nicht registriert haben, schließen Sie diese Seite: Es geschieht nichts.',
        button: 'E-Mail-Adresse bestätigen',
        done: 'Ihre E-Mail-Adresse ist bestätigt. Sie können sich jetzt anmelden.',
      },
      noCode: {
        intro: 'Geben Sie Ihre E-Mail-Adresse ein, um die E-Mail zur Registrierung noch einmal zu erhalten.',
        button: 'E-Mail noch einmal senden',
        done: 'Falls zu dieser Adresse eine offene Registrierung gehört, ist eine E-Mail unterwegs.',
      },
    },
    resetPasswordPage: {
      title: 'Neues Passwort setzen',
      code: {
        intro:
          'Das neue Passwort gilt sofort und beendet alle Ihre Sitzungen. Ihre API-Schlüssel gelten weiter, wenn Sie sie nicht hier löschen.',
        button: 'Passwort setzen',
        done: 'Das neue Passwort gilt, und alle Sitzungen sind beendet.',
      },
      noCode: {
        intro: 'Geben Sie Ihre E-Mail-Adresse ein, um einen Link zum Setzen eines neuen Passworts zu erhalten.',
        button: 'E-Mail senden',
        done: 'Falls zu dieser Adresse ein Konto gehört, ist eine E-Mail unterwegs.',
      },
    },
    changeEmailPage: {
      title: 'Neue E-Mail-Adresse bestätigen',
      code: {
        intro:
          'Geben Sie das Passwort Ihres Kontos ein. Falls Sie diese Änderung nicht angefordert haben, schließen Sie diese Seite: Es geschieht nichts.',
        button: 'Diese E-Mail-Adresse verwenden',
        done: 'Ihr Konto hat die neue E-Mail-Adresse. Melden Sie sich ab jetzt mit ihr an.',
      },
      renewal:
        'Falls Ihr Konto die neue E-Mail-Adresse noch nicht hat, melden Sie sich an und fordern Sie die Änderung noch einmal an.',
    },
    undoEmailChangePage: {
      title: 'Änderung der E-Mail-Adresse rückgängig machen',
      code: {
        intro:
          'Geben Sie die E-Mail-Adresse ein, an die dieser Link gesendet wurde: Ihr Konto erhält sie zurück. Alle Sitzungen werden beendet und das Passwort wird ungültig: Sie erhalten einen Link, um ein neues zu setzen. API-Schlüssel, Passkeys und zweite Faktoren, die nach der Änderung oder in den 7 Tagen davor hinzugekommen sind, werden entfernt, außer wenn sie aus einem Netz verwendet wurden, aus dem Sie sich schon vorher angemeldet hatten. Falls Sie die Adresse selbst geändert haben, schließen Sie diese Seite: Es geschieht nichts.',
        button: 'Änderung rückgängig machen',
        done: 'Die Änderung ist rückgängig gemacht, und alle Sitzungen sind beendet. Eine E-Mail mit einem Link für ein neues Passwort ist an diese Adresse unterwegs, sofern das Konto nicht gesperrt ist.',
      },
      renewal: 'Falls Ihr Konto noch die andere E-Mail-Adresse hat, wenden Sie sich an den Support dieses Dienstes.',
    },
    removeKeyPage: {
      title: 'Den Schlüssel eines Programms löschen',
      code: {
        intro:
          'Geben Sie die E-Mail-Adresse ein, die diesen Link erhalten hat. Der API-Schlüssel wird gelöscht, und das Programm kann ihn nicht mehr verwenden. Wenn Sie die Anmeldung selbst begonnen haben, schließen Sie diese Seite: Es geschieht nichts.',
        button: 'Schlüssel löschen',
        done: 'Der API-Schlüssel ist gelöscht. Wenn Sie ihn nicht genehmigt haben, ändern Sie jetzt Ihr Passwort.',
      },
      renewal: 'Melden Sie sich an, öffnen Sie Ihre API-Schlüssel und löschen Sie den Schlüssel dort.',
    },
    acceptEmailPage: {
      title: 'Neue E-Mail-Adresse bestätigen',
      code: {
        intro:
          'Ein Administrator hat eine neue E-Mail-Adresse für Ihr Konto eingetragen. Geben Sie die E-Mail-Adresse ein, an die dieser Link gesendet wurde. Falls Sie das nicht erwarten, schließen Sie diese Seite: Es geschieht nichts.',
        button: 'Diese E-Mail-Adresse verwenden',
        done: 'Ihr Konto hat die neue E-Mail-Adresse. Melden Sie sich ab jetzt mit ihr an.',
      },
      renewal:
        'Falls Ihr Konto diese E-Mail-Adresse noch nicht hat, bitten Sie einen Administrator, sie noch einmal einzutragen.',
    },
    acceptInvitationPage: {
      title: 'Einladung annehmen',
      code: {
        intro: 'Wählen Sie ein Passwort für Ihr neues Konto.',
        button: 'Passwort setzen',
        done: 'Das Passwort ist gesetzt. Sie können sich jetzt anmelden.',
      },
      noCode: {
        intro:
          'Falls Ihre Einladung abgelaufen ist, geben Sie Ihre E-Mail-Adresse ein, um eine neue E-Mail zu erhalten.',
        button: 'Neue E-Mail senden',
        done: 'Falls zu dieser Adresse eine Einladung gehört, ist eine E-Mail unterwegs.',
      },
    },
  },
};

export const linkPageTexts: Readonly<Record<Language, LinkPageTexts>> = { en: english, de: german };
