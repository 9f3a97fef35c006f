{{- define "keyreeve.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "keyreeve.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "keyreeve.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "keyreeve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Takes a list: the root, and further labels, which replace common ones and none of the chart. */}}
{{- define "keyreeve.labelsWith" -}}
{{- $root := first . -}}
{{- merge (include "keyreeve.ownLabels" $root | fromYaml) (last . | default dict) ($root.Values.commonLabels | default dict) | toYaml -}}
{{- end -}}

{{- define "keyreeve.labels" -}}
{{- include "keyreeve.labelsWith" (list . dict) -}}
{{- end -}}

{{/* Of a pod that no Service selects. Takes a list: the root, the ending of the name, and further labels. */}}
{{- define "keyreeve.jobLabels" -}}
{{- $root := first . -}}
{{- $own := dict "app.kubernetes.io/name" (printf "%s-%s" $root.Chart.Name (index . 1)) "app.kubernetes.io/instance" $root.Release.Name -}}
{{- merge $own (last . | default dict) ($root.Values.commonLabels | default dict) | toYaml -}}
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
{{- $ca := .Values.database.ca -}}
{{- if and $ca.secret $ca.configMap -}}
{{- fail "database.ca.secret and database.ca.configMap are both set: choose one" -}}
{{- end -}}
{{- if and (or $ca.secret $ca.configMap) (not $isPostgres) -}}
{{- fail "database.ca requires database.kind postgres" -}}
{{- end -}}
{{- if and .Values.bootstrap.content .Values.bootstrap.existingSecret -}}
{{- fail "bootstrap.content and bootstrap.existingSecret are both set: choose one" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is required: the Gateways of the HTTPRoute" -}}
{{- end -}}
{{- if not .Values.trustedProxies -}}
{{- fail "trustedProxies is required: the IP addresses or networks from which the ingress connects" -}}
{{- end -}}
{{- end -}}

{{/* The hosts of the public URL and of a console with a host of its own, as a list in JSON. */}}
{{- define "keyreeve.hosts" -}}
{{- $public := (.Values.publicUrl | urlParse).hostname -}}
{{- $console := ((.Values.settings | default dict).KEYREEVE_CONSOLE_URL | default .Values.publicUrl | urlParse).hostname -}}
{{- list $public $console | uniq | toJson -}}
{{- end -}}

{{/* Lists of the published paths: `published` for the Service, `verification` for that of the verifiers if there are any. */}}
{{- define "keyreeve.paths" -}}
{{- $paths := .Files.Get "files/paths.yaml" | fromYaml -}}
{{- if not .Values.publishVerification }}{{ $_ := unset $paths "verification" }}{{ end -}}
{{- $paths | toYaml -}}
{{- end -}}

{{- define "keyreeve.verificationService" -}}
{{- include "keyreeve.name" . }}{{ if .Values.verifiers }}-verify{{ end -}}
{{- end -}}

{{- define "keyreeve.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "keyreeve.name" .) -}}
{{- end -}}
