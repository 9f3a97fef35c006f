# The master key from HashiCorp Vault. Run the agent as the user of the service. Add a new master key under a new name, so that the
# previous file does not change before --finish: vault kv patch secret/keyreeve master-key-2=-
# No test runs this; the source is https://developer.hashicorp.com/vault/docs/agent-and-proxy/agent/template.
template {
  destination          = "/run/keyreeve/master-key-2"
  perms                = "0400"
  error_on_missing_key = true
  contents             = "{{ with secret \"secret/data/keyreeve\" }}{{ index .Data.data \"master-key-2\" }}{{ end }}"
}
