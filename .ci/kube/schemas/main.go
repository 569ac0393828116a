// Command schemas makes a JSON schema of each kind out of Kubernetes's own OpenAPI
// documents, for kubeconform, which would else fetch them.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: schemas SWAGGER.json DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes KIND-GROUP-VERSION.json for each kind of the document, self-contained
// and without unknown fields.
func write(swagger, dir string) error {
	body, err := os.ReadFile(swagger)
	if err != nil {
		return err
	}
	var doc struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("%s: %w", swagger, err)
	}
	definitions := map[string]any{}
	for name, d := range doc.Definitions {
		definitions[name] = strict(d)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, d := range doc.Definitions {
		for _, k := range kinds(d) {
			schema := map[string]any{"$ref": "#/definitions/" + name, "definitions": definitions}
			if err := writeJSON(filepath.Join(dir, k+".json"), schema); err != nil {
				return err
			}
		}
	}
	return nil
}

// strict refuses fields that a definition does not name, and mends the formats that a
// validator of JSON schemas does not know.
func strict(d map[string]any) map[string]any {
	if f, _ := d["format"].(string); f == "int-or-string" {
		return map[string]any{"type": []string{"string", "integer"}}
	}
	if strings.HasSuffix(fmt.Sprint(d["description"]), "Quantity") || d["type"] == "string" {
		if _, closed := d["properties"]; !closed && strings.Contains(fmt.Sprint(d["description"]), "fixed-point") {
			return map[string]any{"type": []string{"string", "number"}}
		}
	}
	if _, has := d["properties"]; has {
		d["additionalProperties"] = false
	}
	return d
}

// kinds names the kinds that a definition is of, as kubeconform looks for them.
func kinds(d map[string]any) []string {
	list, _ := d["x-kubernetes-group-version-kind"].([]any)
	var names []string
	for _, one := range list {
		k, _ := one.(map[string]any)
		group, version, kind := fmt.Sprint(k["group"]), fmt.Sprint(k["version"]), fmt.Sprint(k["kind"])
		if kind == "CronJob" || kind == "Job" || kind == "Deployment" || kind == "ServiceAccount" || kind == "Service" || kind == "ConfigMap" || kind == "PersistentVolumeClaim" || kind == "NetworkPolicy" || kind == "Namespace" {
			group, _, _ = strings.Cut(group, ".")
			if group != "" {
				group += "-"
			}
			names = append(names, strings.ToLower(kind+"-"+group+version))
		}
	}
	return names
}

func writeJSON(file string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o644)
}
