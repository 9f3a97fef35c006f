/** German sentences for error codes of the API. Without one of its own, `general.unexplained` applies to a code. */
import { keyProblems } from './key-problems.ts';

export const problems = {
  ...keyProblems,
  page_not_loaded: 'Die Seite konnte nicht geladen werden. Falls die Konsole aktualisiert wurde, laden Sie sie neu.',
  too_many_attempts: 'Zu viele Versuche.',
  console_session_required: 'Ihre Sitzung ist beendet. Melden Sie sich wieder an.',
  cross_origin_request: 'Die Anfrage kam nicht von dieser Konsole. Laden Sie die Seite neu.',
  invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  second_factor_not_enrolled: 'Ihr Konto hat keinen zweiten Faktor.',
  second_factor_required: 'Geben Sie auch einen Einmalcode oder einen Wiederherstellungscode ein.',
  second_factor_invalid: 'Der Einmalcode ist falsch.',
  second_factor_wrong: 'Der Einmalcode ist falsch.',
  passkey_cancelled:
    'Es wurde kein Passkey verwendet. Versuchen Sie es erneut, oder melden Sie sich mit Ihrem Passwort an.',
  passkey_impossible:
    'Passkeys funktionieren unter dieser URL oder mit diesem Browser nicht. Melden Sie sich mit Ihrem Passwort an.',
  passkey_rejected:
    'Der Passkey wurde nicht akzeptiert. Versuchen Sie es erneut, oder melden Sie sich mit Ihrem Passwort an.',
  password_wrong: 'Das Passwort ist falsch.',
  password_too_short: 'Das Passwort ist zu kurz.',
  password_too_long: 'Das Passwort ist zu lang.',
  password_invalid: 'Das Passwort enthält Steuerzeichen.',
  password_context:
    'Das Passwort ist leicht zu erraten: Es besteht vor allem aus dem Produktnamen, der E-Mail-Adresse oder Wiederholungen.',
  password_common:
    'Das Passwort steht auf einer Liste häufiger oder bekannt gewordener Passwörter. Wählen Sie ein anderes.',
  email_invalid: 'Diese E-Mail-Adresse ist nicht gültig.',
  email_unverified:
    'Bestätigen Sie zuerst Ihre E-Mail-Adresse. Der Link steht in der E-Mail, die Sie bei der Registrierung erhalten haben.',
  code_invalid: 'Der Code ist falsch, abgelaufen oder bereits verwendet.',
  account_exists: 'Es gibt bereits ein Konto mit dieser E-Mail-Adresse.',
  signup_closed: 'Die Registrierung ist geschlossen. Administratoren erstellen die Konten.',
  administrator_exists: 'Diese Installation hat bereits einen Administrator. Melden Sie sich an.',
  administrator_required: 'Ihr Konto hat die Rolle eines Administrators nicht mehr.',
  reauth_required: 'Für diesen Vorgang ist eine Anmeldung in den letzten 5 Minuten nötig.',
  second_factor_enrolment_required: 'Ihr Konto benötigt zuerst einen zweiten Faktor.',
  second_factor_required_by_policy:
    'Ihr Konto muss einen zweiten Faktor haben. Deshalb können Sie ihn nicht entfernen.',
  last_administrator: 'Ihr Konto ist der letzte Administrator. Geben Sie zuerst einem anderen Konto diese Rolle.',
  mail_not_configured: 'Dieser Dienst versendet keine E-Mails.',
  session_not_found: 'Die Sitzung ist bereits beendet.',
  too_many_codes: 'Es wurden zu viele falsche Codes eingegeben.',
  email_differs: 'Das ist nicht die E-Mail-Adresse Ihres Kontos.',
  name_taken: 'Sie haben bereits ein Dienstkonto mit diesem Namen.',
  external_id_taken: 'Sie haben bereits ein Dienstkonto mit dieser externen ID.',
  service_account_limit_reached: 'Sie haben die Höchstzahl an Dienstkonten.',
  account_limited: 'Ihr Konto hat Limits, die für ein Dienstkonto nicht gelten würden. Fragen Sie einen Administrator.',
  manager_not_eligible: 'Kein aktives Konto mit bestätigter E-Mail-Adresse hat diese ID.',
  manager_limit_reached: 'Das Dienstkonto hat die Höchstzahl an verwaltenden Konten.',
  last_manager:
    'Das letzte verwaltende Konto kann nicht entfernt werden. Fügen Sie ein anderes hinzu, oder löschen Sie das Dienstkonto.',
  account_not_found: 'Das Dienstkonto existiert nicht, oder Sie verwalten es nicht.',
  name_differs: 'Das ist nicht sein Name.',
  passkey_not_created: 'Es wurde kein Passkey erstellt: Sie haben abgebrochen, oder es hat zu lange gedauert.',
  passkey_failed: 'Der Browser konnte keinen Passkey erstellen.',
  passkey_exists: 'Dieses Gerät oder dieser Passwortmanager hat bereits einen Passkey für Ihr Konto.',
  passkey_invalid: 'Der Passkey ist ungültig. Versuchen Sie es erneut.',
  passkey_limit_reached: 'Sie haben die Höchstzahl an Passkeys. Entfernen Sie zuerst einen.',
  passkey_not_found: 'Der Passkey wurde bereits entfernt.',
  passkeys_unavailable: 'Dieser Dienst hat keine Passkeys.',
  not_key_owner: 'Dieser Schlüssel gehört einem anderen Konto.',
  https_required: 'Die Konsole funktioniert nur über HTTPS. Öffnen Sie sie unter einer URL, die mit https:// beginnt.',
  creator_required: 'Nur das Konto, das das Dienstkonto erstellt hat, kann dessen Namen und externe ID ändern.',
  manager_not_found: 'Dieses Konto verwaltet das Dienstkonto nicht. Möglicherweise wurde es entfernt.',
  second_factor_exists: 'Ihr Konto hat bereits eine Authenticator-App.',
  identity_provider_unavailable: 'Der Identitätsanbieter ist nicht erreichbar. Versuchen Sie es später erneut.',
};
