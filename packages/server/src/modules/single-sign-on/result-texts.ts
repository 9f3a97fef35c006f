/** The texts of the page that explains why a single sign-on did not succeed, in every language. */
import type { Language } from '@keyreeve/contract';
import type { RefusalReason } from './refusal.ts';

/** Failures that are no refusal: of the account, of the provider, of the database, and of too many attempts. */
export type ResultReason =
  | RefusalReason
  | 'account_unverified'
  | 'provider_unavailable'
  | 'unavailable'
  | 'too_many_attempts';

interface ResultText {
  readonly title: string;
  readonly text: string;
}

export interface ResultTexts {
  readonly back: string;
  readonly reasons: Readonly<Record<ResultReason, ResultText>>;
}

const english: ResultTexts = {
  back: 'Back to the sign-in',
  reasons: {
    expired: {
      title: 'This sign-in has expired',
      text: 'The sign-in took too long, was used before, or was started in another browser. Start it again.',
    },
    rejected: {
      title: 'The sign-in was not accepted',
      text: 'The response of the identity provider is not valid. Start the sign-in again. If this happens repeatedly, ask the operator to read the log.',
    },
    cancelled: {
      title: 'The identity provider did not sign you in',
      text: 'It returned this error:',
    },
    role_missing: {
      title: 'You are not an administrator',
      text: 'The identity provider does not give your identity the role of an administrator of this service. Single sign-on is for administrators only.',
    },
    not_linked: {
      title: 'No account is linked to your identity',
      text: 'An account with your email address exists, or the identity provider has not verified your email address. An operator can link your account with this command:',
    },
    account_disabled: {
      title: 'Your account is disabled',
      text: 'An administrator or an operator has disabled the account that is linked to your identity.',
    },
    account_unverified: {
      title: 'The email address of your account is not verified',
      text: 'An account gets the role of an administrator only after its email address is verified. Open the link in the mail from the sign-up, then start the sign-in again.',
    },
    provider_unavailable: {
      title: 'The identity provider cannot be used',
      text: 'It does not respond, or its configuration does not match. Try again later. The log of the service has the cause.',
    },
    unavailable: {
      title: 'The service is not available',
      text: 'The sign-in could not be completed. Try again in a moment.',
    },
    too_many_attempts: {
      title: 'Too many failed sign-ins',
      text: 'Too many sign-ins from your network have failed. Wait a few minutes, then try again.',
    },
  },
};

const german: ResultTexts = {
  back: 'Zurück zur Anmeldung',
  reasons: {
    expired: {
      title: 'Diese Anmeldung ist abgelaufen',
      text: 'Die Anmeldung hat zu lange gedauert, wurde schon verwendet oder in einem anderen Browser begonnen. Beginnen Sie sie neu.',
    },
    rejected: {
      title: 'Die Anmeldung wurde nicht akzeptiert',
      text: 'Die Antwort des Identitätsanbieters ist nicht gültig. Beginnen Sie die Anmeldung neu. Wenn das wiederholt geschieht, bitten Sie den Betreiber, das Protokoll zu lesen.',
    },
    cancelled: {
      title: 'Der Identitätsanbieter hat Sie nicht angemeldet',
      text: 'Er hat diesen Fehler gemeldet:',
    },
    role_missing: {
      title: 'Sie sind kein Administrator',
      text: 'Der Identitätsanbieter gibt Ihrer Identität nicht die Rolle eines Administrators dieses Dienstes. Single Sign-on ist nur für Administratoren.',
    },
    not_linked: {
      title: 'Mit Ihrer Identität ist kein Konto verknüpft',
      text: 'Es gibt ein Konto mit Ihrer E-Mail-Adresse, oder der Identitätsanbieter hat Ihre E-Mail-Adresse nicht bestätigt. Ein Betreiber kann Ihr Konto mit diesem Befehl verknüpfen:',
    },
    account_disabled: {
      title: 'Ihr Konto ist deaktiviert',
      text: 'Ein Administrator oder ein Betreiber hat das Konto deaktiviert, das mit Ihrer Identität verknüpft ist.',
    },
    account_unverified: {
      title: 'Die E-Mail-Adresse Ihres Kontos ist nicht bestätigt',
      text: 'Ein Konto bekommt die Rolle eines Administrators erst, wenn seine E-Mail-Adresse bestätigt ist. Öffnen Sie den Link in der E-Mail zur Registrierung und beginnen Sie die Anmeldung dann neu.',
    },
    provider_unavailable: {
      title: 'Der Identitätsanbieter ist nicht verwendbar',
      text: 'Er antwortet nicht, oder seine Konfiguration passt nicht. Versuchen Sie es später erneut. Das Protokoll des Dienstes nennt die Ursache.',
    },
    unavailable: {
      title: 'Der Dienst ist nicht verfügbar',
      text: 'Die Anmeldung konnte nicht abgeschlossen werden. Versuchen Sie es gleich noch einmal.',
    },
    too_many_attempts: {
      title: 'Zu viele fehlgeschlagene Anmeldungen',
      text: 'Zu viele Anmeldungen aus Ihrem Netz sind fehlgeschlagen. Warten Sie einige Minuten und versuchen Sie es dann erneut.',
    },
  },
};

export const resultTexts: Readonly<Record<Language, ResultTexts>> = { en: english, de: german };
