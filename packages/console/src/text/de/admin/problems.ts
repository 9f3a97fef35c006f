/** German sentences for error codes that mean something else on the pages about other accounts. */
export const problems = {
  account_not_found: 'Das Konto gibt es nicht. Vielleicht wurde es gelöscht.',
  account_exists: 'Ein anderes Konto hat diese E-Mail-Adresse.',
  account_has_password:
    'Das Konto hat schon ein Passwort. Senden Sie stattdessen einen Link, um das Passwort zurückzusetzen.',
  account_unverified: 'Die E-Mail-Adresse des Kontos ist nicht bestätigt.',
  administrator_protected:
    'Die E-Mail-Adresse eines Administrators kann nicht gesetzt werden. Entziehen Sie zuerst die Rolle.',
  email_changed_recently: 'Die E-Mail-Adresse wurde kürzlich geändert. Wählen Sie, wohin der Link gesendet wird.',
  email_unconfirmed:
    'Die neue E-Mail-Adresse des Kontos ist noch nicht bestätigt, deshalb kann kein Link an sie gesendet werden.',
  email_unverified: 'Die E-Mail-Adresse des Kontos ist nicht bestätigt.',
  key_limit_reached: 'Das Konto hat die Höchstzahl an Schlüsseln. Löschen Sie einen, der nicht mehr gebraucht wird.',
  reserved_scope: 'Ein Schlüssel eines anderen Kontos kann keinen Scope erhalten, der mit „keyreeve:“ beginnt.',
  key_leaked:
    'Das Geheimnis ist öffentlich geworden. Nur der Besitzer kann es ersetzen, um den Schlüssel zu verwenden.',
  last_administrator: 'Das ist der letzte Administrator. Geben Sie zuerst einem anderen Konto die Rolle.',
  own_account: 'Für das eigene Konto ist das nicht möglich.',
  scope_not_entitled: 'Das Konto darf einen dieser Scopes nicht haben.',
  second_factor_not_enrolled: 'Dafür fehlt ein zweiter Faktor.',
  signing_key_waiting:
    'Der nächste Schlüssel wartet bereits. Wechseln Sie wieder, wenn er signiert, oder ersetzen Sie jetzt alle Schlüssel, wenn einer bekannt geworden ist.',
  service_account: 'Für ein Dienstkonto ist das nicht möglich.',
  webhook_url_refused:
    'Keyreeve kann nicht an diese URL senden. Sie muss mit https:// beginnen und zu einer öffentlichen Adresse führen.',
  webhook_limit_reached: 'Die Installation hat so viele Webhooks, wie sie erlaubt. Löschen Sie zuerst einen.',
  webhook_not_found: 'Den Webhook gibt es nicht. Vielleicht wurde er gelöscht.',
  issuer_url_refused:
    'Keyreeve kann diesen Aussteller nicht verwenden. Seine URL muss mit https:// beginnen, und ihr Host muss eine öffentliche IP-Adresse haben; oder geben Sie ein festes JWK-Set an.',
  issuer_taken: 'Einen Aussteller mit dieser URL gibt es schon.',
  issuer_limit_reached: 'Die Installation hat so viele Aussteller, wie sie erlaubt. Entfernen Sie zuerst einen.',
  issuer_not_found: 'Den Aussteller gibt es nicht. Vielleicht wurde er entfernt.',
  catalogue_full: 'Der Katalog hat so viele Scopes, wie die Installation erlaubt.',
  scope_not_found: 'Den Scope gibt es nicht.',
  scope_invalid: 'Der Name hat nicht erlaubte Zeichen, ist zu lang oder reserviert.',
  webhook_disabled: 'Der Webhook ist deaktiviert. Aktivieren Sie ihn zuerst.',
  webhook_delivery_not_found: 'Die Zustellung ist nicht aufgezeichnet. Zustellungen bleiben 7 Tage.',
  webhook_event_missing:
    'Das Ereignis der Zustellung wurde aus dem Audit-Log entfernt und lässt sich nicht noch einmal senden.',
  program_not_found: 'Dieses Programm gibt es nicht. Vielleicht wurde es entfernt.',
  program_taken: 'Es gibt schon ein Programm mit dieser ID.',
  program_limit_reached:
    'Es gibt schon die höchste Zahl an Programmen. Entfernen Sie eines, das nicht mehr gebraucht wird.',
};
