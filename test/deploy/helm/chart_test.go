// Package helm renders and lints the chart of deploy/helm/tocsin with Helm's own library, and reads the result with
// Kubernetes' own types: a member that they do not have is an error.
package helm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const chart = "../../../deploy/helm/tocsin"

// values are settings of the chart, as in a file.
type values = map[string]any

var postgres = values{
	"database": values{"engine": "postgres", "secret": values{"name": "tocsin"}},
	"sealKey":  values{"name": "tocsin"}, "replicas": 3,
}

// everything switches on what is off.
var everything = values{
	"database": values{"engine": "postgres", "secret": values{"name": "tocsin"}}, "sealKey": values{"name": "tocsin"},
	"settings":         values{"public-url": "https://tocsin.example.com", "trusted-proxies": []any{"10.0.0.0/8"}},
	"ingress":          values{"enabled": true, "className": "nginx", "tlsSecret": "tls"},
	"networkPolicy":    values{"enabled": true},
	"serviceMonitor":   values{"enabled": true, "labels": values{"release": "prometheus"}},
	"env":              []any{values{"name": "TOCSIN_SMTP", "value": "mail.example.com:587"}},
	"volumes":          []any{values{"name": "smtp", "secret": values{"secretName": "smtp"}}},
	"volumeMounts":     []any{values{"name": "smtp", "mountPath": "/etc/tocsin/smtp"}},
	"imagePullSecrets": []any{values{"name": "registry"}}, "priorityClassName": "high",
	"podAnnotations": values{"a": "b"}, "podLabels": values{"c": "d"}, "nodeSelector": values{"e": "f"},
	"tolerations": []any{values{"key": "g", "operator": "Exists"}}, "affinity": values{"podAntiAffinity": values{}},
}

// render returns the manifests of the chart by their kinds.
func render(t *testing.T, given values) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependencies(c, given); err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "watch", Namespace: "ops", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	byKind := map[string]string{}
	for name, text := range texts {
		var head struct{ Kind string }
		if !strings.HasSuffix(name, ".yaml") || strings.TrimSpace(text) == "" {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), &head); err != nil || head.Kind == "" {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		byKind[head.Kind] = text
	}
	return byKind, nil
}

// strict reads a manifest into a type of Kubernetes.
func strict[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Errorf("%T: %v\n%s", v, err, text)
	}
	return v
}

func TestLint(t *testing.T) {
	for _, given := range []values{{}, postgres, everything} {
		for _, m := range lint.All(chart, given, "ops", true).Messages {
			if m.Severity > support.InfoSev {
				t.Error(m)
			}
		}
	}
}

func TestEmbeddedEngineIsOnePodWithVolume(t *testing.T) {
	got, err := render(t, values{})
	if err != nil {
		t.Fatal(err)
	}
	if kinds := slices.Sorted(maps.Keys(got)); fmt.Sprint(kinds) != "[ConfigMap Service StatefulSet]" {
		t.Error(kinds)
	}
	s := strict[appsv1.StatefulSet](t, got["StatefulSet"])
	if *s.Spec.Replicas != 1 || len(s.Spec.VolumeClaimTemplates) != 1 || s.Spec.VolumeClaimTemplates[0].Name != "data" {
		t.Errorf("%+v", s.Spec)
	}
	checkPod(t, s.Spec.Template, s.Spec.Selector.MatchLabels)
	if p := s.Spec.Template.Spec.Containers[0].LivenessProbe; p.HTTPGet == nil || p.HTTPGet.Path != "/health" {
		t.Error("a database that cannot be read does not restart the pod")
	}
}

func TestPostgreSQLIsDeployment(t *testing.T) {
	got, err := render(t, postgres)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := slices.Sorted(maps.Keys(got)); fmt.Sprint(kinds) != "[ConfigMap Deployment PodDisruptionBudget Service]" {
		t.Error(kinds)
	}
	d := strict[appsv1.Deployment](t, got["Deployment"])
	pod := d.Spec.Template.Spec
	checkPod(t, d.Spec.Template, d.Spec.Selector.MatchLabels)
	if *d.Spec.Replicas != 3 || d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 {
		t.Errorf("%+v", d.Spec)
	}
	if pod.Containers[0].LivenessProbe.HTTPGet != nil {
		t.Error("a database that is away restarts every pod")
	}
	for _, e := range pod.Containers[0].Env {
		if e.Name == "TOCSIN_DB" && (e.Value != "" || e.ValueFrom.SecretKeyRef.Name != "tocsin" || e.ValueFrom.SecretKeyRef.Key != "dsn") {
			t.Errorf("the address of the database is not from the secret: %+v", e)
		}
	}
	b := strict[policyv1.PodDisruptionBudget](t, got["PodDisruptionBudget"])
	if fmt.Sprint(b.Spec.Selector.MatchLabels) != fmt.Sprint(d.Spec.Selector.MatchLabels) {
		t.Error(b.Spec)
	}
}

// checkPod fails unless a pod meets the restricted standard of pod security, and its parts fit together.
func checkPod(t *testing.T, template corev1.PodTemplateSpec, selector map[string]string) {
	t.Helper()
	pod, c := template.Spec, template.Spec.Containers[0]
	for k, v := range selector {
		if template.Labels[k] != v {
			t.Errorf("the selector's label %s=%s is not the pod's", k, v)
		}
	}
	s := c.SecurityContext
	if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser != 65532 || pod.SecurityContext.SeccompProfile.Type != "RuntimeDefault" ||
		*s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" || *pod.AutomountServiceAccountToken {
		t.Errorf("not restricted: %+v %+v", pod.SecurityContext, s)
	}
	for name, p := range map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe} {
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != "/health" || p.HTTPGet.Port.StrVal != c.Ports[0].Name {
			t.Errorf("%s: %+v", name, p)
		}
	}
	volumes := map[string]bool{"data": true} // of the claim, where it is no volume of the pod
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s is mounted and no volume", m.Name)
		}
	}
	if pause := c.Lifecycle.PreStop.Sleep; pause == nil || *pod.TerminationGracePeriodSeconds < pause.Seconds+45 {
		t.Error("stopping has no time")
	}
}

func TestEverything(t *testing.T) {
	got, err := render(t, everything)
	if err != nil {
		t.Fatal(err)
	}
	d := strict[appsv1.Deployment](t, got["Deployment"])
	checkPod(t, d.Spec.Template, d.Spec.Selector.MatchLabels)
	service := strict[corev1.Service](t, got["Service"])
	if service.Spec.Ports[0].TargetPort.StrVal != d.Spec.Template.Spec.Containers[0].Ports[0].Name ||
		fmt.Sprint(service.Spec.Selector) != fmt.Sprint(d.Spec.Selector.MatchLabels) {
		t.Errorf("%+v", service.Spec)
	}
	i := strict[networkingv1.Ingress](t, got["Ingress"])
	if backend := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service; backend.Name != service.Name || backend.Port.Name != service.Spec.Ports[0].Name {
		t.Errorf("%+v", backend)
	}
	p := strict[networkingv1.NetworkPolicy](t, got["NetworkPolicy"])
	if fmt.Sprint(p.Spec.PodSelector.MatchLabels) != fmt.Sprint(d.Spec.Selector.MatchLabels) || len(p.Spec.Ingress[0].From) != 1 {
		t.Errorf("%+v", p.Spec)
	}
	settings := strict[corev1.ConfigMap](t, got["ConfigMap"])
	if s := settings.Data["tocsin.yaml"]; !strings.Contains(s, "public-url: https://tocsin.example.com\n") || !strings.Contains(s, "- 10.0.0.0/8") {
		t.Errorf("%q", s)
	}
	if monitor := got["ServiceMonitor"]; !strings.Contains(monitor, "port: "+service.Spec.Ports[0].Name) || !strings.Contains(monitor, "release: prometheus") {
		t.Error(monitor)
	}
	var monitor map[string]any
	if err := yaml.UnmarshalStrict([]byte(got["ServiceMonitor"]), &monitor); err != nil {
		t.Error(err)
	}
}

// Values that cannot work are refused before anything is installed.
func TestValuesThatCannotWork(t *testing.T) {
	for name, given := range map[string]values{
		"no secret with the database":  {"database": values{"engine": "postgres"}, "sealKey": values{"name": "tocsin"}},
		"no sealing keys":              {"database": values{"engine": "postgres", "secret": values{"name": "tocsin"}}},
		"an unknown engine":            {"database": values{"engine": "mysql"}},
		"a misspelt value":             {"replica": 3},
		"no pods":                      {"replicas": 0},
		"the database among settings":  {"settings": values{"db": "postgres://tocsin:secret@db/tocsin"}},
		"sealing keys among settings":  {"settings": values{"seal-key": "k1 AAAA"}},
		"a setting that is a variable": {"settings": values{"TOCSIN_SMTP": "mail:25"}},
	} {
		if _, err := render(t, given); err == nil {
			t.Errorf("%s: rendered", name)
		}
	}
}
