/** German sentences for error codes of the API. Codes without an entry show the detail of the response. */
export const problems = {
  unreachable: 'Keyreeve ist nicht erreichbar. Prüfen Sie Ihre Netzwerkverbindung und versuchen Sie es erneut.',
  unavailable: 'Keyreeve kann seine Datenbank nicht erreichen. Es wurde nichts geändert.',
  overloaded: 'Der Server ist ausgelastet. Es wurde nichts geändert.',
  internal_error: 'Ein interner Fehler ist aufgetreten. Senden Sie Ihrem Administrator die Anfragenummer.',
  too_many_in_progress: 'Zu viele Anfragen werden gerade bearbeitet. Es wurde nichts geändert.',
  too_many_requests: 'Zu viele Anfragen dieser Art.',
  too_many_attempts: 'Zu viele Versuche.',
  too_many_creations: 'Sie haben in kurzer Zeit zu viele Schlüssel erstellt.',
  too_many_changes: 'Sie haben in kurzer Zeit zu viele Änderungen vorgenommen.',
  console_session_required: 'Ihre Sitzung ist beendet. Melden Sie sich wieder an.',
  cross_origin_request: 'Die Anfrage kam nicht von dieser Konsole. Laden Sie die Seite neu.',
  invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  second_factor_required: 'Geben Sie auch einen Einmalcode oder einen Wiederherstellungscode ein.',
  second_factor_invalid: 'Der Einmalcode ist falsch.',
  second_factor_wrong: 'Der Einmalcode ist falsch.',
  passkey_cancelled:
    'Es wurde kein Passkey verwendet. Versuchen Sie es erneut, oder melden Sie sich mit Ihrem Passwort an.',
  passkey_impossible:
    'Passkeys funktionieren unter dieser Adresse oder mit diesem Browser nicht. Melden Sie sich mit Ihrem Passwort an.',
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
  code_invalid: 'Der Code ist falsch, abgelaufen oder bereits benutzt.',
  account_exists: 'Es gibt bereits ein Konto mit dieser E-Mail-Adresse.',
  signup_closed: 'Die Registrierung ist geschlossen. Administratoren legen die Konten an.',
  administrator_exists: 'Diese Installation hat bereits einen Administrator. Melden Sie sich an.',
  administrator_required: 'Ihr Konto hat die Rolle eines Administrators nicht mehr.',
  reauth_required: 'Für diesen Vorgang ist eine Anmeldung in den letzten Minuten nötig.',
  second_factor_enrolment_required: 'Ihr Konto braucht zuerst einen zweiten Faktor.',
  second_factor_required_by_policy:
    'Ihr Konto muss einen zweiten Faktor haben. Deshalb können Sie ihn nicht entfernen.',
  last_administrator: 'Ihr Konto ist der letzte Administrator. Geben Sie zuerst einem anderen Konto diese Rolle.',
  mail_not_configured: 'Diese Installation versendet keine E-Mails.',
  session_not_found: 'Die Sitzung ist bereits beendet.',
  key_not_found: 'Diesen Schlüssel gibt es nicht. Möglicherweise wurde er gelöscht.',
  nickname_taken: 'Ein anderer Schlüssel hat diesen Namen. Wählen Sie einen anderen.',
  nickname_invalid: 'Der Name enthält unzulässige Zeichen oder ist zu lang.',
  invalid_request: 'Die Anfrage ist nicht gültig. Korrigieren Sie die markierten Felder.',
  scope_invalid:
    'Ein Scope hat bis zu 64 sichtbare Buchstaben, Ziffern oder Zeichen, ohne Leerzeichen und Anführungszeichen. Ein Schlüssel hat bis zu 32 Scopes.',
  scope_not_entitled: 'Ihr Konto darf einen dieser Scopes nicht vergeben.',
  reserved_scope:
    'Nur ein Administrator kann Scopes vergeben, die mit „keyreeve:“ beginnen, oder einen Schlüssel mit einem solchen Scope ändern.',
  key_leaked: 'Das Geheimnis wurde veröffentlicht. Erneuern Sie es, um den Schlüssel wieder zu verwenden.',
  no_previous_secret: 'Das vorige Geheimnis ist bereits beendet.',
  no_overlap_in_progress:
    'Das vorige Geheimnis ist beendet, das jetzige ist also das einzige. Wählen Sie, wann es endet.',
  key_limit_reached: 'Sie haben die Höchstzahl an Schlüsseln. Löschen Sie einen, den Sie nicht mehr brauchen.',
  email_differs: 'Das ist nicht die E-Mail-Adresse Ihres Kontos.',
  name_taken: 'Sie haben bereits ein Dienstkonto mit diesem Namen.',
  external_id_taken: 'Sie haben bereits ein Dienstkonto mit dieser externen ID.',
  service_account_limit_reached: 'Sie haben so viele Dienstkonten, wie die Installation erlaubt.',
  account_limited: 'Ihr Konto hat Grenzen, die für ein Dienstkonto nicht gelten würden. Fragen Sie die Administration.',
  manager_not_eligible: 'Kein aktives Konto mit bestätigter E-Mail-Adresse hat diese ID.',
  manager_limit_reached: 'Das Dienstkonto hat so viele verwaltende Konten, wie die Installation erlaubt.',
  last_manager:
    'Das letzte verwaltende Konto kann nicht entfernt werden. Fügen Sie ein anderes hinzu, oder löschen Sie das Dienstkonto.',
  account_not_found: 'Das Dienstkonto existiert nicht, oder Sie verwalten es nicht.',
  name_differs: 'Das ist nicht sein Name.',
};
