{{- define "gram.name" -}}
{{- if contains "gram" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-gram" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "gram.coordinator" -}}{{ include "gram.name" . }}-coordinator{{- end -}}

{{- define "gram.worker" -}}{{ include "gram.name" . }}-worker{{- end -}}

{{- /* Labels that select pods; they never change. */ -}}
{{- define "gram.selector" -}}
app.kubernetes.io/name: gram
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gram.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "gram.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "gram.image" -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{- else -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- /* Every coordinator's API: the names in their certificate. */ -}}
{{- define "gram.addresses" -}}
{{- $name := include "gram.coordinator" . -}}
{{- $namespace := .Release.Namespace -}}
{{- range $i := until (int .Values.coordinator.replicas) -}}
{{- if $i }},{{ end }}{{ $name }}-{{ $i }}.{{ $name }}.{{ $namespace }}.svc:7480
{{- end -}}
{{- end -}}

{{- define "gram.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
serviceAccountName: {{ include "gram.name" . }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.podSecurity.user }}
  runAsGroup: {{ .Values.podSecurity.group }}
  fsGroup: {{ .Values.podSecurity.group }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "gram.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "gram.storeEnv" -}}
{{- range $name, $value := .Values.store.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "gram.storeSecret" -}}
{{- with .Values.store.existingSecret }}
envFrom:
  - secretRef:
      name: {{ . }}
{{- end }}
{{- end -}}

{{- define "gram.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What every pod may call besides the coordinators: names, and the store, but never the cloud's metadata. */ -}}
{{- define "gram.egress" -}}
- ports: # names
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
- to: # the store
    - ipBlock:
        cidr: {{ .Values.networkPolicy.store.cidr }}
        {{- if eq .Values.networkPolicy.store.cidr "0.0.0.0/0" }}
        except: [169.254.0.0/16]
        {{- end }}
  ports:
    {{- range .Values.networkPolicy.store.ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end -}}
