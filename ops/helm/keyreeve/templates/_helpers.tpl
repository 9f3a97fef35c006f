{{- define "keyreeve.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "keyreeve.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "keyreeve.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "keyreeve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* What a schema of the values cannot express. */}}
{{- define "keyreeve.checks" -}}
{{- $isPostgres := eq .Values.database.kind "postgres" -}}
{{- if and (gt (int .Values.replicas) 1) (not $isPostgres) -}}
{{- fail "replicas above 1 require database.kind postgres: SQLite is one file for one pod" -}}
{{- end -}}
{{- if and $isPostgres (not .Values.database.urlSecret.name) -}}
{{- fail "database.kind postgres requires database.urlSecret.name" -}}
{{- end -}}
{{- if not .Values.trustedProxies -}}
{{- fail "trustedProxies is required: the IP addresses or networks from which the ingress connects" -}}
{{- end -}}
{{- end -}}

{{- define "keyreeve.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "keyreeve.name" .) -}}
{{- end -}}
